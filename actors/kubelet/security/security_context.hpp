// Converts a pod's and a container's securityContext to a `process_security` of this machine, or
// returns why the container is rejected. No field is ignored silently. Pure.
#pragma once

#include <string>
#include <tl/expected.hpp>

#include "actors/kubelet/security/process_security.hpp"
#include "api/schema/core_pod.pb.h"

namespace troupe::actors {

// Merges both contexts: the container's fields override the pod's (kubernetes:
// securitycontext/util.go, DetermineEffectiveSecurityContext).
api::core::v1::SecurityContext effective_context(const api::core::v1::Pod& pod,
                                                 const api::core::v1::Container& container);

// A container without runAsUser runs as the node's user: there is no image to name one. The error
// is the message of CreateContainerConfigError. The caller fills in `hidden`.
tl::expected<process_security, std::string> security_of(const api::core::v1::Pod& pod,
                                                        const api::core::v1::Container& container,
                                                        const machine_rights& rights);

}  // namespace troupe::actors
