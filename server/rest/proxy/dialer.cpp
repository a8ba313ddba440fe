#include "server/rest/proxy/dialer.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>

#include <array>
#include <utility>

#include "actors/kubelet/os/event_loop.hpp"
#include "actors/kubelet/os/port_connection.hpp"
#include "server/rest/proxy/defaults.hpp"

namespace troupe::server {
namespace {

constexpr auto patience =
    std::chrono::duration_cast<std::chrono::milliseconds>(defaults::proxy_connect);

bool is_address(const std::string& host) {
  std::array<char, sizeof(in6_addr)> read{};
  return ::inet_pton(AF_INET, host.c_str(), read.data()) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), read.data()) == 1;
}

// The first address of a host name; blocks.
tl::expected<std::string, std::string> look_up(const std::string& name) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int code = ::getaddrinfo(name.c_str(), nullptr, &wanted, &found); code != 0)
    return tl::make_unexpected(fmt::format(
        "dial tcp: lookup {}: {}", name, code == EAI_NONAME ? "no such host" : gai_strerror(code)));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner{found, &::freeaddrinfo};
  std::array<char, NI_MAXHOST> text{};
  if (::getnameinfo(found->ai_addr, found->ai_addrlen, text.data(), text.size(), nullptr, 0,
                    NI_NUMERICHOST) != 0)
    return tl::make_unexpected(fmt::format("dial tcp: lookup {}: no such host", name));
  return std::string{text.data()};
}

}  // namespace

dialer::dialer() = default;

dialer::~dialer() {
  lookups_.reset();
  if (loop_) loop_->stop();
}

std::shared_ptr<actors::event_loop> dialer::loop() {
  const std::lock_guard lock{mutex_};
  if (!loop_) loop_ = std::make_shared<actors::event_loop>();
  return loop_;
}

void dialer::dial(const std::string& host, int port,
                  std::function<void(proxy_target::answer)> done) {
  const auto by = loop();
  if (is_address(host)) return actors::connect_address(by, host, port, patience, done);
  const std::lock_guard lock{mutex_};
  if (!lookups_)
    lookups_ = std::make_unique<runtime::worker_pool>("lookup", 1, defaults::waiting_lookups);
  const bool taken = lookups_->post([by, host, port, done] {
    const auto address = look_up(host);
    if (!address) return done(tl::make_unexpected(address.error()));
    actors::connect_address(by, *address, port, patience, done);
  });
  if (!taken) done(tl::make_unexpected(std::string{"too many names are being looked up"}));
}

}  // namespace troupe::server
