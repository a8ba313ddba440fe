// Sockets of DNS: opened without blocking, addresses in one form for both families.
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

// Bound, of SOCK_DGRAM or SOCK_STREAM; a stream listens. The error names the address.
tl::expected<runtime::unique_fd, std::string> open_server(const socket_address& at, int type);
// Connected, or about to be; only what its peer sends is read from it.
runtime::unique_fd open_client(const socket_address& to, int type);
socket_address bound_address(int fd);

// "HOST:PORT", for messages.
std::string to_string(const socket_address& address);

// A message of TCP: its size goes before it (RFC 1035, 4.2.2).
std::string with_size(const std::string& message);

// The servers of a resolv.conf, the first few; those in `ours` are left out: no question is
// forwarded to ourselves.
std::vector<std::string> read_resolvers(std::string_view resolv_conf,
                                        const std::vector<std::string>& ours);

}  // namespace troupe::actors::dns
