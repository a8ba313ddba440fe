// Reads what a machine has left. Blocks on disk: not for actors' threads.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "actors/kubelet/pressure/pressure_rules.hpp"

namespace troupe::actors {

// What cannot be read is not known. The disk is the one that holds `root_dir`.
node_supplies read_supplies(const std::filesystem::path& root_dir);

// Of the texts of /proc/meminfo and /proc/loadavg. Pure.
supply parse_memory(const std::string& meminfo);
supply parse_pids(const std::string& loadavg, std::int64_t most);

// What the directory of each pod takes of the disk: volumes, logs.
std::vector<std::int64_t> pod_bytes(const std::filesystem::path& root_dir,
                                    const std::vector<std::string>& uids);

}  // namespace troupe::actors
