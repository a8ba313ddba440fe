// What the kernel's files say of the use of a control group. Pure; cgroup_tree::usage reads them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace troupe::actors {

// The number of a line "NAME NUMBER", as of cpu.stat and memory.stat.
std::optional<std::uint64_t> counter_in(const std::string& text, std::string_view name);

// A file that holds one number.
std::optional<std::uint64_t> number_in(const std::string& text);

// Memory in use less the pages of files that were not read lately (cadvisor: `container_memory_
// working_set_bytes`): memory.usage_in_bytes less total_inactive_file, memory.current less
// inactive_file. 0 where there are more of them than is in use.
std::optional<std::uint64_t> working_set(const std::string& usage, const std::string& stat,
                                         bool version_2);

}  // namespace troupe::actors
