#include "actors/network/dns/dns_socket.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <sstream>
#include <system_error>

#include "actors/network/defaults.hpp"

namespace troupe::actors::dns {

std::uint16_t socket_address::port() const {
  return ntohs(storage.ss_family == AF_INET6
                   ? reinterpret_cast<const sockaddr_in6*>(&storage)->sin6_port
                   : reinterpret_cast<const sockaddr_in*>(&storage)->sin_port);
}

tl::expected<socket_address, std::string> make_address(const std::string& host,
                                                       std::uint16_t port) {
  socket_address made;
  auto* v4 = reinterpret_cast<sockaddr_in*>(&made.storage);
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&made.storage);
  if (::inet_pton(AF_INET, host.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
    made.size = sizeof *v4;
  } else if (::inet_pton(AF_INET6, host.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(port);
    made.size = sizeof *v6;
  } else {
    return tl::make_unexpected(fmt::format("\"{}\" is not an address", host));
  }
  return made;
}

tl::expected<runtime::unique_fd, std::string> open_server(const socket_address& at, int type) {
  const auto failed = [&] {
    return tl::make_unexpected(fmt::format("{} ({}): {}", to_string(at),
                                           type == SOCK_DGRAM ? "UDP" : "TCP",
                                           std::generic_category().message(errno)));
  };
  runtime::unique_fd fd{::socket(at.storage.ss_family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
  if (!fd) return failed();
  const int on = 1;
  // The address may not exist yet, because it is that of a service.
  ::setsockopt(fd.get(), IPPROTO_IP, IP_FREEBIND, &on, sizeof on);
  if (type == SOCK_STREAM) ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(fd.get(), at.get(), at.size) != 0) return failed();
  if (type == SOCK_STREAM && ::listen(fd.get(), network_defaults::dns_connections) != 0)
    return failed();
  return fd;
}

runtime::unique_fd open_client(const socket_address& to, int type) {
  runtime::unique_fd fd{::socket(to.storage.ss_family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
  if (fd && ::connect(fd.get(), to.get(), to.size) != 0 && errno != EINPROGRESS) fd.reset();
  return fd;
}

socket_address bound_address(int fd) {
  socket_address out;
  out.size = sizeof out.storage;
  ::getsockname(fd, out.get(), &out.size);
  return out;
}

std::string to_string(const socket_address& address) {
  char host[INET6_ADDRSTRLEN] = "";
  const bool is_v6 = address.storage.ss_family == AF_INET6;
  const void* bytes = is_v6
                          ? static_cast<const void*>(
                                &reinterpret_cast<const sockaddr_in6*>(&address.storage)->sin6_addr)
                          : &reinterpret_cast<const sockaddr_in*>(&address.storage)->sin_addr;
  ::inet_ntop(address.storage.ss_family, bytes, host, sizeof host);
  return is_v6 ? fmt::format("[{}]:{}", host, address.port())
               : fmt::format("{}:{}", host, address.port());
}

std::string with_size(const std::string& message) {
  std::string out{static_cast<char>(message.size() >> 8), static_cast<char>(message.size())};
  return out + message;
}

std::vector<std::string> read_resolvers(std::string_view resolv_conf,
                                        const std::vector<std::string>& ours) {
  std::vector<std::string> out;
  std::istringstream lines{std::string{resolv_conf}};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words{line};
    std::string key, address;
    if (!(words >> key >> address) || key != "nameserver" || !make_address(address, 0)) continue;
    if (std::find(ours.begin(), ours.end(), address) != ours.end()) continue;
    if (out.size() < network_defaults::dns_resolvers) out.push_back(address);
  }
  return out;
}

}  // namespace troupe::actors::dns
