// Files that only their owner may read. A write is whole or not at all: a new file is written
// beside, and renamed. Errors are one line naming the file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <tl/expected.hpp>

namespace troupe::server {

// Makes the directory, and those above it, where missing; 0700 whatever it was.
tl::expected<void, std::string> make_private_directory(const std::filesystem::path& path);
// When the machine goes down, a `lasting` file is whole or not there: it is synced, which takes the
// disk's time. A `replaceable` one may be cut short, and is made again at the next start.
enum class durability : std::uint8_t { lasting, replaceable };

// Mode 0600.
tl::expected<void, std::string> write_private_file(const std::filesystem::path& path,
                                                   std::string_view text,
                                                   durability kept = durability::lasting);
// Nullopt: there is no such file. A file that others may read is narrowed to 0600.
tl::expected<std::optional<std::string>, std::string> read_private_file(
    const std::filesystem::path& path);

}  // namespace troupe::server
