// Parses the usage files of a control group. Pure; cgroup_tree::usage reads the files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace troupe::actors {

// The number in a line "NAME NUMBER", as in cpu.stat and memory.stat.
std::optional<std::uint64_t> counter_in(const std::string& text, std::string_view name);

// Parses a file that contains one number.
std::optional<std::uint64_t> number_in(const std::string& text);

// Memory in use minus the page cache not read lately (cadvisor: `container_memory_
// working_set_bytes`): memory.usage_in_bytes minus total_inactive_file, or memory.current minus
// inactive_file; at least 0.
std::optional<std::uint64_t> working_set(const std::string& usage, const std::string& stat,
                                         bool version_2);

}  // namespace troupe::actors
