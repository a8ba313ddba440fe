#include "server/connections/listener.hpp"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "server/defaults.hpp"

namespace troupe::server {
namespace {

// Connections accepted in a row, before the others of the thread have their turn.
constexpr int accepted_at_once = 64;

void set(int descriptor, int level, int name, int value) {
  // A refused option affects performance, not correctness.
  static_cast<void>(::setsockopt(descriptor, level, name, &value, sizeof value));
}

std::string print(const sockaddr_storage& address) {
  if (address.ss_family == AF_UNIX) return "this machine";
  char host[INET6_ADDRSTRLEN] = "";
  if (address.ss_family == AF_INET6) {
    const auto& six = reinterpret_cast<const sockaddr_in6&>(address);
    ::inet_ntop(AF_INET6, &six.sin6_addr, host, sizeof host);
    return to_string(endpoint{host, ntohs(six.sin6_port)});
  }
  const auto& four = reinterpret_cast<const sockaddr_in&>(address);
  ::inet_ntop(AF_INET, &four.sin_addr, host, sizeof host);
  return to_string(endpoint{host, ntohs(four.sin_port)});
}

std::uint16_t port_of(int descriptor) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.ss_family == AF_INET6
                   ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                   : reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

std::string explain(int code, const endpoint& endpoint) {
  const auto place = to_string(endpoint);
  switch (code) {
    case EADDRINUSE:
      return "cannot listen on " + place +
             ": the port is in use by another program; stop it or choose another port";
    case EADDRNOTAVAIL:
      return "cannot listen on " + place + ": this machine has no such address";
    case EACCES:
      return "cannot listen on " + place + ": ports below 1024 need privileges";
    default:
      return "cannot listen on " + place + ": " + std::strerror(code);
  }
}

}  // namespace

tl::expected<bound_socket, std::string> bind_socket(const endpoint& target) {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  const std::string host = target.host == "localhost" ? "127.0.0.1" : target.host;
  addrinfo* found = nullptr;
  if (::getaddrinfo(host.c_str(), std::to_string(target.port).c_str(), &hints, &found) != 0) {
    return tl::make_unexpected("cannot listen on " + to_string(target) +
                               ": expected an IPv4 or IPv6 address, such as 127.0.0.1 or ::1");
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> address{found, ::freeaddrinfo};
  runtime::unique_fd descriptor{
      ::socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
  if (!descriptor) return tl::make_unexpected(explain(errno, target));
  set(descriptor.get(), SOL_SOCKET, SO_REUSEADDR, 1);
  if (::bind(descriptor.get(), found->ai_addr, found->ai_addrlen) != 0 ||
      ::listen(descriptor.get(), defaults::listen_backlog) != 0)
    return tl::make_unexpected(explain(errno, target));
  const auto port = port_of(descriptor.get());
  return bound_socket{std::move(descriptor), endpoint{host, port}};
}

listener::listener(bound_socket socket, std::shared_ptr<const site> site,
                   std::vector<std::unique_ptr<io_worker>>& workers, std::size_t connection_limit,
                   http_counters& counters)
    : descriptor_{std::move(socket.descriptor)},
      file_{std::move(socket.file)},
      site_{std::move(site)},
      workers_{workers},
      connection_limit_{connection_limit},
      counters_{counters} {}

listener::~listener() {
  std::error_code ignored;
  if (!file_.empty()) std::filesystem::remove(file_, ignored);
}

void listener::on_events(std::uint32_t events) {
  if (events == 0)
    turn_due_ = false;
  else if (turn_due_)
    return;
  accept_pending();
}

void listener::on_tick() {
  if (!turn_due_) accept_pending();
}

void listener::accept_pending() {
  for (int i = 0; i < accepted_at_once; ++i) {
    sockaddr_storage peer{};
    socklen_t size = sizeof peer;
    runtime::unique_fd accepted{::accept4(descriptor_.get(), reinterpret_cast<sockaddr*>(&peer),
                                          &size, SOCK_NONBLOCK | SOCK_CLOEXEC)};
    if (accepted) {
      short_of_descriptors_ = false;
      take(std::move(accepted), peer);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      return;
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      if (!short_of_descriptors_)
        spdlog::warn("server: no connections are accepted for now: {}", std::strerror(errno));
      short_of_descriptors_ = true;
      return;
    }  // other errors concern only the connection being accepted
  }
  // The socket is watched edge-triggered: no event reports those that are left.
  turn_due_ = true;
  workers_.front()->loop().defer(*this);
}

// Above the limit an unauthenticated connection, if there is one, is closed for the new one; some
// places are reserved for the Unix socket.
void listener::take(runtime::unique_fd accepted, const sockaddr_storage& peer) {
  const auto reserved = site_->in_file_system
                            ? 0
                            : std::min(defaults::local_connections,
                                       connection_limit_ / defaults::local_connections_part);
  const auto open = counters_.connections.load(std::memory_order_relaxed);
  const bool full = open >= connection_limit_ - reserved;
  const auto most = std::max_element(
      workers_.begin(), workers_.end(),
      [](const auto& a, const auto& b) { return a->unauthenticated() < b->unauthenticated(); });
  if (full && ((*most)->unauthenticated() == 0 ||
               open >= connection_limit_ + defaults::connections_overrun)) {
    counters_.refused.fetch_add(1, std::memory_order_relaxed);
    workers_.front()->refused(
        {.peer = print(peer), .address = address_of(peer), .reason = "TooManyConnections"});
    return;
  }
  ++counters_.connections;
  ++counters_.accepted;
  set(accepted.get(), IPPROTO_TCP, TCP_NODELAY, 1);
  set(accepted.get(), IPPROTO_TCP, TCP_NOTSENT_LOWAT, defaults::unsent_bytes);
  set(accepted.get(), SOL_SOCKET, SO_KEEPALIVE, 1);
  set(accepted.get(), IPPROTO_TCP, TCP_KEEPIDLE, defaults::keepalive_idle_seconds);
  set(accepted.get(), IPPROTO_TCP, TCP_KEEPINTVL, defaults::keepalive_interval_seconds);
  set(accepted.get(), IPPROTO_TCP, TCP_KEEPCNT, defaults::keepalive_probes);
  const auto least =
      std::min_element(workers_.begin(), workers_.end(),
                       [](const auto& a, const auto& b) { return a->load() < b->load(); });
  (full ? *most : *least)->adopt({accepted.release(), print(peer), address_of(peer)}, site_, full);
}

}  // namespace troupe::server
