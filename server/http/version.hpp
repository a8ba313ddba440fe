// The document at /version. Its gitVersion is the version of Kubernetes whose API
// is served, for clients that compare versions; our own version follows the plus
// sign.
#pragma once

#include <string>

#include "server/http/http.hpp"

namespace troupe::server {

std::string_view program_version() noexcept;
// "v1.33.0+troupe-0.1.0": used by /version and by nodes.
std::string kubernetes_version();
response version_response();

}  // namespace troupe::server
