// What the containers of the process runtime use: of each that runs as its control group counts it,
// and where it has none, or one that does not count, as the table of processes does.
#pragma once

#include <filesystem>
#include <vector>

#include "actors/kubelet/runtime/usage.hpp"
#include "actors/kubelet/runtimes/process/cgroup.hpp"

namespace troupe::actors {

// The newest attempt of each container below `root_dir`. Reads disk and /proc: not for an actor's
// thread.
std::vector<container_counters> measure_containers(const std::filesystem::path& root_dir,
                                                   const cgroup_tree& groups);

}  // namespace troupe::actors
