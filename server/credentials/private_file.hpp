// Files that only their owner may read. Writes are atomic: a temporary file is written and renamed.
// Errors are one line naming the file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <tl/expected.hpp>

namespace troupe::server {

// Creates the directory with its parents; sets its mode to 0700.
tl::expected<void, std::string> make_private_directory(const std::filesystem::path& path);
// After a power failure a `lasting` file is complete or absent: it is synced, which takes disk
// time. A `replaceable` file may be truncated, and is created again at the next start.
enum class durability : std::uint8_t { lasting, replaceable };

// Mode 0600.
tl::expected<void, std::string> write_private_file(const std::filesystem::path& path,
                                                   std::string_view text,
                                                   durability kept = durability::lasting);
// Nullopt if there is no such file. Restricts a file that others may read to 0600.
tl::expected<std::optional<std::string>, std::string> read_private_file(
    const std::filesystem::path& path);

}  // namespace troupe::server
