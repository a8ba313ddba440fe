// What the machine as a whole uses, as the system counts it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "actors/kubelet/runtime/usage.hpp"

namespace troupe::actors {

// Time of all processors in use, from the text of /proc/stat: all but idle, waiting for a disk, and
// stolen by other machines; time of guests is in `user`. Nothing where the text is none.
std::optional<std::uint64_t> parse_cpu_ns(const std::string& stat, long ticks_per_second);

// MemTotal less MemAvailable, in bytes, from the text of /proc/meminfo. Nothing where one of them
// is not there.
std::optional<std::uint64_t> parse_used_memory(const std::string& meminfo);

// MemTotal less MemFree, likewise.
std::optional<std::uint64_t> parse_all_memory(const std::string& meminfo);

// Reads them: not for an actor's thread. Nothing where the system does not show them.
std::optional<usage_counters> read_machine_counters();

}  // namespace troupe::actors
