// The control groups of pods: the runtime creates its containers' groups in them, but does not
// remove them (kubernetes: cm/pod_container_manager_linux.go, cm/helpers_linux.go).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "actors/kubelet/runtime/container_types.hpp"
#include "actors/kubelet/runtimes/cri/sandbox_config.hpp"
#include "api/schema/core_pod.pb.h"

namespace troupe::actors {

// The limits of a pod as a whole. Pure.
struct pod_group_limits {
  std::int64_t cpu_shares = 0;
  // Absent: a container of the pod has no limit.
  std::optional<std::int64_t> cpu_quota_us, memory_bytes;
  // Processes and threads. Absent: the limit of an existing group stays.
  std::optional<std::int64_t> pids = {};

  bool operator==(const pod_group_limits&) const = default;
};

pod_group_limits group_limits_of(const api::core::v1::Pod& pod);

// The larger of each limit, none if either has none: during a resize the pod's group has room for
// the containers' former and new limits. Pure.
pod_group_limits larger_limits(const pod_group_limits& a, const pod_group_limits& b);

// Converts the shares of version 1 to cpu.weight of version 2. Pure.
std::int64_t weight_of_shares(std::int64_t shares);

// The limits as properties of a unit: "MemoryMax=1048576". Pure.
std::vector<std::string> slice_properties(const pod_group_limits& limits);

inline constexpr const char* groups_top = "/sys/fs/cgroup";

// Creates the pod's group in the cpu, memory and pids hierarchies, version 1 or 2, if missing, and
// sets its limits. With systemd's driver they are set by systemctl, because systemd would overwrite
// files: the group appears with the sandbox. Returns the error; empty: success. Blocks on disk.
std::string set_pod_group(const api::core::v1::Pod& pod, const pod_group_limits& limits,
                          const std::string& top = groups_top,
                          group_driver driver = group_driver::cgroupfs);

// Sets the limits of the group that contains all pods, in the same way.
std::string limit_all_pods(const pods_limits& limits, const std::string& top = groups_top,
                           group_driver driver = group_driver::cgroupfs);

// Sets the shares of the groups of all Burstable and of all BestEffort pods, in the same way.
std::string share_among_classes(std::int64_t burstable_milli_cpu,
                                const std::string& top = groups_top,
                                group_driver driver = group_driver::cgroupfs);

// The number of processes and threads in the pod's group; 0: unknown. Blocks on disk.
std::int64_t processes_of(const api::core::v1::Pod& pod, const std::string& top = groups_top,
                          group_driver driver = group_driver::cgroupfs);

// Kills all processes in the container's control group. SIGKILL for the first one alone is too slow
// where many processes share a small quota of the processor. Blocks on disk.
void kill_container_group(const std::string& container_id, const std::string& top = groups_top);

// Removes the pod's control groups from all hierarchies, of either driver. Blocks on disk.
void remove_pod_groups(const std::string& pod_uid);

}  // namespace troupe::actors
