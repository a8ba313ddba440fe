// How much memory the control groups of this process leave it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace troupe::persistence {

// The smallest limit of its groups and of those above them, version 1 or 2; nothing where there is
// none or it is unknown. `proc` is the process's directory in /proc, `root` what its mount
// points begin with.
std::optional<std::uint64_t> memory_limit_bytes(const std::filesystem::path& proc = "/proc/self",
                                                const std::filesystem::path& root = "/");

}  // namespace troupe::persistence
