// Sockets in the file system: who may open the file may connect, and on one machine that is all the
// right that is needed. Paths may be longer than the 107 bytes that the kernel takes.
#pragma once

#include <filesystem>
#include <string>
#include <tl/expected.hpp>

namespace troupe::server {

// Where a node's console is found in its data directory.
inline constexpr const char* console_socket = "console.sock";

// A listening socket whose file only its owner may open (0600). What stands there is replaced: the
// caller has the folder to itself. Errors are one line for the user.
tl::expected<int, std::string> listen_at(const std::filesystem::path& file);
// A connected one.
tl::expected<int, std::string> connect_to(const std::filesystem::path& file);

}  // namespace troupe::server
