// Reads the machine's remaining resources. Blocks on disk: not for actor threads.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "actors/kubelet/pressure/pressure_rules.hpp"

namespace troupe::actors {

// Resources that cannot be read are unknown. The disk is the one of `root_dir`.
node_supplies read_supplies(const std::filesystem::path& root_dir);

// Parse the texts of /proc/meminfo and /proc/loadavg. Pure.
supply parse_memory(const std::string& meminfo);
supply parse_pids(const std::string& loadavg, std::int64_t most);

// Disk usage of each pod's directory: volumes and logs.
std::vector<std::int64_t> pod_bytes(const std::filesystem::path& root_dir,
                                    const std::vector<std::string>& uids);

}  // namespace troupe::actors
