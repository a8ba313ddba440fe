// An address to listen on or to connect to.
#pragma once

#include <cstdint>
#include <string>

namespace troupe::server {

// `host` is a literal address of either family ("127.0.0.1", "::1", "0.0.0.0"), or "localhost";
// port 0 lets the system choose.
struct endpoint {
  std::string host;
  std::uint16_t port = 0;
  bool operator==(const endpoint&) const = default;
};

// "127.0.0.1:6443", "[::1]:6443".
inline std::string to_string(const endpoint& target) {
  const bool six = target.host.find(':') != std::string::npos;
  return (six ? "[" + target.host + "]" : target.host) + ":" + std::to_string(target.port);
}

}  // namespace troupe::server
