#include "system/network/speaker.hpp"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>

#include <catch2/catch.hpp>
#include <cerrno>

namespace troupe::test {
namespace {

constexpr int port_of_all = 8'080;
constexpr int udp_limit_ms = 60'000;

// Of either family, with a socket of it.
struct place {
  sockaddr_storage address{};
  socklen_t size = sizeof(sockaddr_in);

  place(const std::string& host, int port) {
    auto& v4 = reinterpret_cast<sockaddr_in&>(address);
    auto& v6 = reinterpret_cast<sockaddr_in6&>(address);
    const auto number = htons(static_cast<std::uint16_t>(port));
    if (host.find(':') == host.npos) {
      v4.sin_family = AF_INET;
      v4.sin_port = number;
      REQUIRE(::inet_pton(AF_INET, host.c_str(), &v4.sin_addr) == 1);
      return;
    }
    size = sizeof v6;
    v6.sin6_family = AF_INET6;
    v6.sin6_port = number;
    REQUIRE(::inet_pton(AF_INET6, host.c_str(), &v6.sin6_addr) == 1);
  }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }
  runtime::unique_fd socket(int type) const {
    return runtime::unique_fd{::socket(address.ss_family, type | SOCK_CLOEXEC, 0)};
  }
};

// Bytes received within the limit.
std::string heard(int fd, int limit_ms) {
  char bytes[64];
  pollfd ready{fd, POLLIN, 0};
  if (::poll(&ready, 1, limit_ms) != 1) return "dropped";
  const auto size = ::recv(fd, bytes, sizeof bytes, 0);
  return size > 0 ? std::string(bytes, static_cast<std::size_t>(size)) : "refused";
}

}  // namespace

speaker::speaker(const network_space& in, std::string name, int type, const std::string& at)
    : name_{std::move(name)} {
  in.run([&] {
    const place here{at, port_of_all};
    fd_ = here.socket(type);
    REQUIRE(::bind(fd_.get(), here.get(), here.size) == 0);
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
  sockaddr_storage from{};
  socklen_t size = sizeof from;
  const auto to = reinterpret_cast<sockaddr*>(&from);
  return ::recvfrom(fd_.get(), &byte, 1, 0, to, &size) > 0 &&
         ::sendto(fd_.get(), name_.data(), name_.size(), 0, to, size) > 0;
}

std::string call(const network_space& from, const std::string& host, int port,
                 std::chrono::milliseconds limit, const std::string& source) {
  std::string out;
  from.run([&] {
    const place to{host, port};
    const auto fd = to.socket(SOCK_STREAM | SOCK_NONBLOCK);
    if (!source.empty()) {
      const place at{source, 0};
      REQUIRE(::bind(fd.get(), at.get(), at.size) == 0);
    }
    const bool begun = ::connect(fd.get(), to.get(), to.size) == 0 || errno == EINPROGRESS;
    out = begun ? heard(fd.get(), static_cast<int>(limit.count())) : "refused";
  });
  return out;
}

udp_client::udp_client(const network_space& from, const std::string& host, int port) {
  from.run([&] {
    const place to{host, port};
    fd_ = to.socket(SOCK_DGRAM);
    REQUIRE(::connect(fd_.get(), to.get(), to.size) == 0);
  });
}

std::string udp_client::call() const {
  return ::send(fd_.get(), "?", 1, 0) == 1 ? heard(fd_.get(), udp_limit_ms) : "refused";
}

}  // namespace troupe::test
