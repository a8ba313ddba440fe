#include "tools/join/local_address.hpp"

#include <netdb.h>
#include <sys/socket.h>

#include <array>
#include <memory>

#include "runtime/unique_fd.hpp"

namespace troupe::tools {

namespace {

// Empty if the socket cannot be connected. Connecting a datagram socket only selects a route.
std::string source_towards(const addrinfo& there) {
  const runtime::unique_fd fd{::socket(there.ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  if (!fd) return {};
  sockaddr_storage here{};
  socklen_t size = sizeof here;
  std::array<char, NI_MAXHOST> text{};
  const bool known = ::connect(fd.get(), there.ai_addr, there.ai_addrlen) == 0 &&
                     ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&here), &size) == 0 &&
                     ::getnameinfo(reinterpret_cast<sockaddr*>(&here), size, text.data(),
                                   text.size(), nullptr, 0, NI_NUMERICHOST) == 0;
  return known ? text.data() : std::string{};
}

}  // namespace

std::string local_address_towards(const std::string& host, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found) == 0) {
    const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner{found, ::freeaddrinfo};
    for (const auto* each = found; each != nullptr; each = each->ai_next)
      if (auto source = source_towards(*each); !source.empty()) return source;
  }
  return "127.0.0.1";
}

}  // namespace troupe::tools
