// The control groups of pods, which the runtime makes its containers' groups in and leaves behind
// (kubernetes: cm/pod_container_manager_linux.go, cm/helpers_linux.go).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "actors/kubelet/runtime/container_types.hpp"
#include "api/schema/core_pod.pb.h"

namespace troupe::actors {

// What a pod may have as a whole. Pure.
struct pod_group_limits {
  std::int64_t cpu_shares = 0;
  // Absent: one of its containers has no limit.
  std::optional<std::int64_t> cpu_quota_us, memory_bytes;

  bool operator==(const pod_group_limits&) const = default;
};

pod_group_limits group_limits_of(const api::core::v1::Pod& pod);

// Each limit the larger of both, none at all where one has none: while containers are resized their
// pod's group has room for them as they were and as they will be. Pure.
pod_group_limits larger_limits(const pod_group_limits& a, const pod_group_limits& b);

// cpu.weight of version 2 for the shares of version 1. Pure.
std::int64_t weight_of_shares(std::int64_t shares);

// Makes the pod's group in the hierarchies of cpu and memory, of version 1 or 2, where there is
// none, and sets what it may have. Empty, or what could not be set. Blocks on disk.
std::string set_pod_group(const api::core::v1::Pod& pod, const pod_group_limits& limits,
                          const std::string& top = "/sys/fs/cgroup");

// Limits the group that all pods' are in, likewise.
std::string limit_all_pods(const pods_limits& limits, const std::string& top = "/sys/fs/cgroup");

// Removes the pod's control groups, in all hierarchies. Blocks on disk.
void remove_pod_groups(const std::string& pod_uid);

}  // namespace troupe::actors
