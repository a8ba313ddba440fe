// The disk, that is the file system, of a path. Blocks on disk: not for actor threads.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace troupe::actors {

// What unprivileged processes may still use of it, and all of it.
struct disk_content {
  std::int64_t bytes_left = 0, bytes = 0;
  std::int64_t inodes_left = 0, inodes = 0;
};

// Nothing if the path cannot be read.
std::optional<disk_content> read_disk(const std::filesystem::path& path);

// Whether two paths are on different disks; nothing if one of them cannot be read.
std::optional<bool> on_other_disk(const std::filesystem::path& path,
                                  const std::filesystem::path& than);

}  // namespace troupe::actors
