// Maps a pod's and a container's securityContext to a `process_security` of this machine, or to the
// reason why the container is refused. No field is ignored silently. Pure.
#pragma once

#include <string>
#include <tl/expected.hpp>

#include "actors/kubelet/security/process_security.hpp"
#include "api/schema/core_pod.pb.h"

namespace troupe::actors {

// A field of the container wins over the same field of the pod (kubernetes:
// securitycontext/util.go, DetermineEffectiveSecurityContext).
api::core::v1::SecurityContext effective_context(const api::core::v1::Pod& pod,
                                                 const api::core::v1::Container& container);

// The process of a container without runAsUser is the node's own user: its "image" runs as that.
// The error is the message of CreateContainerConfigError. `hidden` is left to the caller.
tl::expected<process_security, std::string> security_of(const api::core::v1::Pod& pod,
                                                        const api::core::v1::Container& container,
                                                        const machine_rights& rights);

}  // namespace troupe::actors
