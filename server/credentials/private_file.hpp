// Files that only their owner may read. A write is whole or not at all, also when the machine goes
// down: a new file is written beside, synced, and renamed. Errors are one line naming the file.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <tl/expected.hpp>

namespace troupe::server {

// Makes the directory, and those above it, where missing; 0700 whatever it was.
tl::expected<void, std::string> make_private_directory(const std::filesystem::path& path);
// Mode 0600.
tl::expected<void, std::string> write_private_file(const std::filesystem::path& path,
                                                   std::string_view text);
// Nullopt: there is no such file. A file that others may read is narrowed to 0600.
tl::expected<std::optional<std::string>, std::string> read_private_file(
    const std::filesystem::path& path);

}  // namespace troupe::server
