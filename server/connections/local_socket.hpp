// Unix sockets: file permissions decide who may connect; on one machine that is enough. Paths may
// be longer than the kernel's limit of 107 bytes.
#pragma once

#include <filesystem>
#include <string>
#include <tl/expected.hpp>

namespace troupe::server {

// The console's socket in a node's data directory.
inline constexpr const char* console_socket = "console.sock";

// A listening socket that only the file's owner may open (0600). Replaces an existing file: the
// caller owns the directory. Errors are one line for the user.
tl::expected<int, std::string> listen_at(const std::filesystem::path& file);
// A connected socket.
tl::expected<int, std::string> connect_to(const std::filesystem::path& file);

}  // namespace troupe::server
