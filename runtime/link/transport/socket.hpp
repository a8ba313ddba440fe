// The socket calls of the acceptor.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <tl/expected.hpp>

#include "runtime/link/link.hpp"
#include "runtime/unique_fd.hpp"

namespace troupe::runtime::link {

// Opens a listening socket; an empty host means all addresses of the machine. The error names the
// address and the problem.
tl::expected<unique_fd, std::string> listen_at(const address& address);
std::uint16_t port_of(int socket);
// Host and port in the same format as `address_of` gives.
std::string text_of(const sockaddr_storage& from);
// Disables Nagle's algorithm, and closes connections whose data is not acknowledged in time.
void set_options(int socket);

}  // namespace troupe::runtime::link
