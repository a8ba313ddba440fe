// Reads the machine's remaining resources. Blocks on disk: not for actor threads.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "actors/kubelet/os/safe_files.hpp"
#include "actors/kubelet/pressure/pressure_rules.hpp"
#include "actors/kubelet/runtime/usage.hpp"

namespace troupe::actors {

// Resources that cannot be read are unknown. The disk is the one of `root_dir`; that of `images`
// has figures of its own if it is another one. `images` may be empty.
node_supplies read_supplies(const std::filesystem::path& root_dir,
                            const std::filesystem::path& images = {});

// Parse the texts of /proc/meminfo and /proc/loadavg. Pure.
supply parse_memory(const std::string& meminfo);
supply parse_pids(const std::string& loadavg, std::int64_t most);

// Usage of a disk by each pod: its directory with volumes and logs, and those layers of its
// containers that are on the same disk; of the images' own disk: the other layers.
std::vector<disk_usage> usage_of_pods(node_disk of, const std::filesystem::path& root_dir,
                                      const std::vector<std::string>& uids,
                                      const std::vector<layer_usage>& layers);

}  // namespace troupe::actors
