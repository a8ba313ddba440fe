// Usage counters of the machine as a whole, from /proc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "actors/kubelet/runtime/usage.hpp"

namespace troupe::actors {

// Busy time of all processors, from the text of /proc/stat: all but idle, iowait and steal; guest
// time is included in `user`. Returns nothing if the text is malformed.
std::optional<std::uint64_t> parse_cpu_ns(const std::string& stat, long ticks_per_second);

// MemTotal minus MemAvailable, in bytes, from the text of /proc/meminfo. Returns nothing if one of
// them is missing.
std::optional<std::uint64_t> parse_used_memory(const std::string& meminfo);

// MemTotal minus MemFree, in the same way.
std::optional<std::uint64_t> parse_all_memory(const std::string& meminfo);

// Reads /proc: not for actor threads. Returns nothing if the system does not provide the files.
std::optional<usage_counters> read_machine_counters();

}  // namespace troupe::actors
