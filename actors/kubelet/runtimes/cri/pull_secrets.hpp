// Selects the credentials for pulling an image (kubernetes: credentialprovider/keyring.go). Pure.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "actors/kubelet/runtimes/cri/cri.pb.h"
#include "api/object/object.hpp"

namespace troupe::actors {

// Returns the credentials in the secrets (kubernetes.io/dockerconfigjson and …/dockercfg) for the
// registry and path of `image`: the longest match first, equal ones in the order of the secrets.
// The error names the secret that cannot be parsed, but no content of it.
tl::expected<std::vector<cri::AuthConfig>, std::string> pull_credentials(
    const std::string& image, const std::vector<api::object_ptr>& secrets);

}  // namespace troupe::actors
