#include "system/network/speaker.hpp"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>

#include <catch2/catch.hpp>
#include <cerrno>

namespace troupe::test {
namespace {

constexpr int port_of_all = 8'080;
constexpr int udp_limit_ms = 5'000;

sockaddr_in address_of(const std::string& host, int port) {
  sockaddr_in out{};
  out.sin_family = AF_INET;
  out.sin_port = htons(static_cast<std::uint16_t>(port));
  ::inet_pton(AF_INET, host.c_str(), &out.sin_addr);
  return out;
}

// Bytes received within the limit.
std::string heard(int fd, int limit_ms) {
  char bytes[64];
  pollfd ready{fd, POLLIN, 0};
  if (::poll(&ready, 1, limit_ms) != 1) return "dropped";
  const auto size = ::recv(fd, bytes, sizeof bytes, 0);
  return size > 0 ? std::string(bytes, static_cast<std::size_t>(size)) : "refused";
}

}  // namespace

speaker::speaker(const network_space& in, std::string name, int type) : name_{std::move(name)} {
  in.run([&] {
    fd_ = runtime::unique_fd{::socket(AF_INET, type | SOCK_CLOEXEC, 0)};
    const auto at = address_of("0.0.0.0", port_of_all);
    REQUIRE(::bind(fd_.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0);
    REQUIRE((type == SOCK_DGRAM || ::listen(fd_.get(), 64) == 0));
  });
  thread_ = std::thread{[this, type] {
    while (type == SOCK_DGRAM ? answer() : greet()) {
    }
  }};
}

speaker::~speaker() {
  ::shutdown(fd_.get(), SHUT_RDWR);
  thread_.join();
}

bool speaker::greet() const {
  const runtime::unique_fd caller{::accept(fd_.get(), nullptr, nullptr)};
  if (!caller) return false;
  static_cast<void>(::send(caller.get(), name_.data(), name_.size(), MSG_NOSIGNAL));
  return true;
}

bool speaker::answer() const {
  char byte = 0;
  sockaddr_in from{};
  socklen_t size = sizeof from;
  const auto to = reinterpret_cast<sockaddr*>(&from);
  return ::recvfrom(fd_.get(), &byte, 1, 0, to, &size) > 0 &&
         ::sendto(fd_.get(), name_.data(), name_.size(), 0, to, size) > 0;
}

std::string call(const network_space& from, const std::string& host, int port,
                 std::chrono::milliseconds limit) {
  std::string out;
  from.run([&] {
    const runtime::unique_fd fd{::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
    const auto to = address_of(host, port);
    const bool begun =
        ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0 ||
        errno == EINPROGRESS;
    out = begun ? heard(fd.get(), static_cast<int>(limit.count())) : "refused";
  });
  return out;
}

udp_client::udp_client(const network_space& from, const std::string& host, int port) {
  from.run([&] {
    fd_ = runtime::unique_fd{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
    const auto to = address_of(host, port);
    REQUIRE(::connect(fd_.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0);
  });
}

std::string udp_client::call() const {
  return ::send(fd_.get(), "?", 1, 0) == 1 ? heard(fd_.get(), udp_limit_ms) : "refused";
}

}  // namespace troupe::test
