// The socket calls of the acceptor.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <tl/expected.hpp>

#include "runtime/link/link.hpp"
#include "runtime/unique_fd.hpp"

namespace troupe::runtime::link {

// A socket that listens; an empty host means all addresses of the machine. The error names the
// address and its fault.
tl::expected<unique_fd, std::string> listen_at(const address& address);
std::uint16_t port_of(int socket);
// Host and port, as `address_of` gives gRPC's form of it.
std::string text_of(const sockaddr_storage& from);
// No delay of small packets, and an end when what was sent is not acknowledged in time.
void set_options(int socket);

}  // namespace troupe::runtime::link
