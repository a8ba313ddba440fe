// Files below a directory to which containers may write: no step of these follows a symbolic link
// or `..` out of it (openat2), whatever a container puts there meanwhile. Blocks on disk: not for
// actors' threads.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <tl/expected.hpp>

#include "runtime/unique_fd.hpp"

namespace troupe::actors {

// The directory itself; the path to it is trusted.
tl::expected<runtime::unique_fd, std::string> open_directory(const std::filesystem::path& path);

// Opens `path`, relative to `directory`. With `links` symbolic links are followed as long as they
// stay below; without, one is an error.
tl::expected<runtime::unique_fd, std::string> open_beneath(const runtime::unique_fd& directory,
                                                           const std::string& path, int flags,
                                                           mode_t mode = 0, bool links = false);

// Makes the directories of `path` that are not there, with `mode`; the last one is returned. Fails
// where something else is there. An empty path is `directory` itself.
tl::expected<runtime::unique_fd, std::string> make_beneath(const runtime::unique_fd& directory,
                                                           const std::string& path, mode_t mode,
                                                           bool links = false);

// What the files below a directory take of the disk, in bytes, as far as `most` of them say.
// Neither symbolic links nor what is mounted there counts; of a file with several names each has
// its share.
std::int64_t bytes_beneath(const std::filesystem::path& path, std::size_t most);

// Removes a tree. Symbolic links are removed, not followed; other file systems that are mounted in
// it are not entered, and keep what is above them. False when something is left.
bool remove_tree(const std::filesystem::path& path);

}  // namespace troupe::actors
