// Whether a kubelet can give a pod the isolation that it requests. A pod is rejected rather than
// run without it. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "actors/kubelet/pods/pod_containers.hpp"

namespace troupe::actors {

struct node_features {
  bool app_armor = false;      // of the kernel
  bool strict_groups = false;  // of the container runtime: supplementalGroupsPolicy Strict
  // Names and "prefix*" of kernel parameters that are allowed beside the safe ones.
  std::vector<std::string> unsafe_sysctls = {};
};

// Why this name or "prefix*" of kernel parameters cannot be allowed: a pod would change the whole
// machine. Empty if it can.
std::string unsafe_sysctl_problem(const std::string& pattern);

// kubernetes: sysctl/allowlist.go, lifecycle/predicate.go, security/apparmor/validate.go.
std::optional<pod_failure> feature_rejection(const api::core::v1::Pod& pod,
                                             const node_features& node);

}  // namespace troupe::actors
