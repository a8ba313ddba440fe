// Kinds that upstream 1.33 has deprecated in the served version.
#pragma once

#include <string_view>

#include "api/fwd.hpp"

namespace troupe::api {

// The warning for requests of the kind, except watches; empty: none.
// kubernetes: apiserver/pkg/endpoints/deprecation.
std::string_view deprecation_of(const kind_info& kind);

}  // namespace troupe::api
