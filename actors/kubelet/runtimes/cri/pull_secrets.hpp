// With which credentials an image is pulled (kubernetes: credentialprovider/keyring.go). Pure.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "actors/kubelet/runtimes/cri/cri.pb.h"
#include "api/object/object.hpp"

namespace troupe::actors {

// What the secrets (kubernetes.io/dockerconfigjson and …/dockercfg) hold for the registry and path
// of `image`: the longest match first, in each the order of the secrets. The error says which
// secret cannot be read, and repeats nothing of it.
tl::expected<std::vector<cri::AuthConfig>, std::string> pull_credentials(
    const std::string& image, const std::vector<api::object_ptr>& secrets);

}  // namespace troupe::actors
