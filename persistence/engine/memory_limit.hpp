// The memory limit of this process, from its control groups.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace troupe::persistence {

// The smallest limit of the process's control groups (version 1 or 2) and their parents; nullopt if
// there is none or it is unknown. `proc` is the process's directory in /proc, `root` is the prefix
// of the mount points.
std::optional<std::uint64_t> memory_limit_bytes(const std::filesystem::path& proc = "/proc/self",
                                                const std::filesystem::path& root = "/");

}  // namespace troupe::persistence
