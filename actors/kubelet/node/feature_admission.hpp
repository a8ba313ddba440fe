// Whether a kubelet can give a pod the isolation that it requests. A pod is rejected rather than
// run without it. Pure.
#pragma once

#include <optional>

#include "actors/kubelet/pods/pod_containers.hpp"

namespace troupe::actors {

struct node_features {
  bool app_armor = false;      // of the kernel
  bool strict_groups = false;  // of the container runtime: supplementalGroupsPolicy Strict
};

// kubernetes: sysctl/allowlist.go, lifecycle/predicate.go, security/apparmor/validate.go.
std::optional<pod_failure> feature_rejection(const api::core::v1::Pod& pod,
                                             const node_features& node);

}  // namespace troupe::actors
