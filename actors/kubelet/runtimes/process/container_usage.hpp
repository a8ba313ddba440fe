// Usage of the process runtime's running containers: from the container's control group, or from
// the process table if it has none or the group does not count.
#pragma once

#include <filesystem>
#include <vector>

#include "actors/kubelet/runtime/usage.hpp"
#include "actors/kubelet/runtimes/process/cgroup.hpp"

namespace troupe::actors {

// Measures the newest attempt of each container below `root_dir`. Reads disk and /proc: do not call
// it on an actor's thread.
std::vector<container_counters> measure_containers(const std::filesystem::path& root_dir,
                                                   const cgroup_tree& groups);

}  // namespace troupe::actors
