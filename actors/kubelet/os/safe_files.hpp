// Access to files below a directory to which containers may write: no symbolic link or `..` leads
// out of it (openat2), even if a container changes files at the same time. Blocks on disk: not for
// actor threads.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <tl/expected.hpp>

#include "runtime/unique_fd.hpp"

namespace troupe::actors {

// Opens the directory itself; the path to it is trusted.
tl::expected<runtime::unique_fd, std::string> open_directory(const std::filesystem::path& path);

// Opens `path`, relative to `directory`. With `links` symbolic links are followed if they stay
// below `directory`; otherwise a link is an error.
tl::expected<runtime::unique_fd, std::string> open_beneath(const runtime::unique_fd& directory,
                                                           const std::string& path, int flags,
                                                           mode_t mode = 0, bool links = false);

// Creates the missing directories of `path` with `mode` and returns the last one. Fails if another
// type of file is in the way. An empty path is `directory` itself.
tl::expected<runtime::unique_fd, std::string> make_beneath(const runtime::unique_fd& directory,
                                                           const std::string& path, mode_t mode,
                                                           bool links = false);

struct disk_usage {
  std::int64_t bytes = 0, files = 0;  // files of any type

  disk_usage& operator+=(const disk_usage& other) {
    bytes += other.bytes;
    files += other.files;
    return *this;
  }
};

// Disk usage of the files below a directory, counting at most `most` files. The targets of symbolic
// links and mounted file systems do not count; the bytes of a file with several hard links count
// proportionally.
disk_usage usage_beneath(const std::filesystem::path& path, std::size_t most);

// Removes a tree. Symbolic links are removed, not followed; mounted file systems are not entered,
// and their parent directories stay. Returns false if anything is left.
bool remove_tree(const std::filesystem::path& path);

}  // namespace troupe::actors
