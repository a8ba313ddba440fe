// Non-blocking sockets for DNS, and an address type for both families.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "runtime/unique_fd.hpp"

namespace troupe::actors::dns {

struct socket_address {
  sockaddr_storage storage{};
  socklen_t size = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  std::uint16_t port() const;
};

tl::expected<socket_address, std::string> make_address(const std::string& host, std::uint16_t port);

// A bound socket, SOCK_DGRAM or SOCK_STREAM; a stream listens. The error names the address.
tl::expected<runtime::unique_fd, std::string> open_server(const socket_address& at, int type);
// A socket that connects to a peer and receives from that peer only.
runtime::unique_fd open_client(const socket_address& to, int type);
socket_address bound_address(int fd);

// "HOST:PORT", for messages.
std::string to_string(const socket_address& address);

// Prefixes a TCP message with its size (RFC 1035, 4.2.2).
std::string with_size(const std::string& message);

// The first few servers of a resolv.conf except those in `ours`, so that no query is forwarded to
// ourselves.
std::vector<std::string> read_resolvers(std::string_view resolv_conf,
                                        const std::vector<std::string>& ours);

}  // namespace troupe::actors::dns
