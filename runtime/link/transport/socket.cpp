#include "runtime/link/transport/socket.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>

#include "runtime/link/defaults.hpp"
#include "runtime/link/transport/text.hpp"

namespace troupe::runtime::link {
namespace {

struct freeing {
  void operator()(addrinfo* list) const noexcept { ::freeaddrinfo(list); }
};

// -1 with errno on failure.
unique_fd bound_to(const addrinfo& address) {
  unique_fd socket{::socket(address.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
  const int on = 1, off = 0;
  if (!socket) return socket;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (address.ai_family == AF_INET6)
    ::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  if (::bind(socket.get(), address.ai_addr, address.ai_addrlen) != 0 ||
      ::listen(socket.get(), SOMAXCONN) != 0) {
    const int error = errno;
    socket = unique_fd{};
    errno = error;
  }
  return socket;
}

}  // namespace

tl::expected<unique_fd, std::string> listen_at(const address& address) {
  const auto refuse = [&](const char* reason) {
    return tl::make_unexpected(fmt::format("the link cannot listen at {}: {}",
                                           host_and_port(address.host, address.port), reason));
  };
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_PASSIVE;
  addrinfo* list = nullptr;
  const auto port = std::to_string(address.port);
  if (const int wrong = ::getaddrinfo(address.host.empty() ? nullptr : address.host.c_str(),
                                      port.c_str(), &wanted, &list))
    return refuse(::gai_strerror(wrong));
  const std::unique_ptr<addrinfo, freeing> found{list};
  // Prefers an address that accepts both families, if the machine has it.
  for (const int family : {AF_INET6, AF_INET}) {
    for (const auto* one = list; one != nullptr; one = one->ai_next) {
      if (one->ai_family != family) continue;
      if (auto socket = bound_to(*one)) return socket;
    }
  }
  return refuse(std::strerror(errno));
}

std::uint16_t port_of(int socket) {
  sockaddr_storage own{};
  socklen_t size = sizeof own;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&own), &size) != 0) return 0;
  return ntohs(own.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(own).sin6_port
                                         : reinterpret_cast<const sockaddr_in&>(own).sin_port);
}

std::string text_of(const sockaddr_storage& from) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (from.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(from);
    ::inet_ntop(AF_INET, &v4.sin_addr, text.data(), text.size());
    return host_and_port(text.data(), ntohs(v4.sin_port));
  }
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(from);
  if (IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr))
    ::inet_ntop(AF_INET, &v6.sin6_addr.s6_addr[12], text.data(), text.size());
  else
    ::inet_ntop(AF_INET6, &v6.sin6_addr, text.data(), text.size());
  return host_and_port(text.data(), ntohs(v6.sin6_port));
}

void set_options(int socket) {
  const int on = 1;
  const unsigned limit_ms =
      (defaults::keepalive_period + defaults::keepalive_limit) / std::chrono::milliseconds{1};
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  ::setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &limit_ms, sizeof limit_ms);
}

}  // namespace troupe::runtime::link
