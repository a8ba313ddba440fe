#include "runtime/link/transport/connection_acceptor.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <list>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/line_limit.hpp"
#include "runtime/link/defaults.hpp"
#include "runtime/link/transport/log.hpp"
#include "runtime/link/transport/socket.hpp"
#include "runtime/link/transport/text.hpp"

namespace troupe::runtime::link {

class connection_acceptor::impl {
 public:
  impl(options options, unique_fd listening, link::address address)
      : options_{std::move(options)},
        address_{std::move(address)},
        listening_{std::move(listening)} {}

  ~impl() { close(); }

  void close() {
    if (thread_.joinable()) {
      const std::uint64_t one = 1;
      [[maybe_unused]] const auto written = ::write(stop_.get(), &one, sizeof one);
      thread_.join();
    }
    listening_ = unique_fd{};
  }

  tl::expected<void, std::string> prepare() {
    if (!events_ || !stop_)
      return tl::make_unexpected(fmt::format("cannot watch sockets: {}", std::strerror(errno)));
    if (!watch(listening_.get(), EPOLLIN, listening_event) ||
        !watch(stop_.get(), EPOLLIN, stop_event))
      return tl::make_unexpected(fmt::format("cannot watch sockets: {}", std::strerror(errno)));
    return {};
  }

  void start() {
    thread_ = std::thread{[this] { run(); }};
    pthread_setname_np(thread_.native_handle(), "link-accept");
  }

  const link::address& address() const { return address_; }

  void settled(const std::string& from, bool is_settled) {
    std::lock_guard lock{mutex_};
    const auto found = by_origin_.find(from);
    if (found == by_origin_.end()) return;
    auto& one = *found->second;
    if (one.settled == is_settled) return;
    one.settled = is_settled;
    one.had_session |= is_settled;
    one.since = std::chrono::steady_clock::now();
    // Handshakes are in one list, the oldest first.
    if (is_settled)
      established_.splice(established_.end(), handshaking_, found->second);
    else
      handshaking_.splice(handshaking_.end(), established_, found->second);
  }

  void refused(const std::string& from, const std::string& detail) {
    {
      std::lock_guard lock{mutex_};
      const auto found = by_origin_.find(from);
      if (found == by_origin_.end()) return;  // closed and counted before
      found->second->counted = true;
      count(refusal_reason::session_refused, from, detail);
    }
    tell();
  }

  listener_stats stats() const {
    listener_stats now;
    for (std::size_t i = 0; i < now.refused.size(); ++i)
      now.refused[i] = refused_[i].load(std::memory_order_relaxed);
    return now;
  }

 private:
  // Event numbers; those of connections are never reused, unlike descriptors.
  static constexpr std::uint64_t stop_event = 0, listening_event = 1;

  struct connection {
    std::uint64_t number = 0;
    unique_fd socket;
    std::string from;
    time_point since;
    bool settled = false;
    bool had_session = false;
    bool counted = false;  // as a refusal
  };
  using connections = std::list<connection>;

  void run() {
    std::array<epoll_event, 64> ready;
    auto next_round = std::chrono::steady_clock::now();
    for (;;) {
      const int count = ::epoll_wait(events_.get(), ready.data(), ready.size(),
                                     defaults::handshake_round / std::chrono::milliseconds{1});
      for (int i = 0; i < count; ++i) {
        const auto event = ready[i].data.u64;
        if (event == stop_event) return;
        if (event == listening_event)
          accept_ready();
        else
          gone(event);
      }
      if (const auto now = std::chrono::steady_clock::now(); now >= next_round) {
        cut_late(now);
        next_round = now + defaults::handshake_round;
      }
    }
  }

  void accept_ready() {
    for (int i = 0; i < defaults::accepted_at_once; ++i) {
      sockaddr_storage from{};
      socklen_t size = sizeof from;
      unique_fd socket{::accept4(listening_.get(), reinterpret_cast<sockaddr*>(&from), &size,
                                 SOCK_NONBLOCK | SOCK_CLOEXEC)};
      if (!socket) {
        if (errno == EMFILE || errno == ENFILE) refuse_one();
        return;
      }
      accept(std::move(socket), text_of(from));
      tell();
    }
  }

  void accept(unique_fd socket, std::string from) {
    unique_fd ours{::fcntl(socket.get(), F_DUPFD_CLOEXEC, 0)};
    {
      std::lock_guard lock{mutex_};
      if (!ours) {
        warn("no file descriptors are left");
        return count(refusal_reason::out_of_descriptors, from);
      }
      if (established_.size() >= options_.connections)
        return count(refusal_reason::connections_limit, from);
      if (handshaking_.size() >= defaults::handshakes_limit ||
          by_number_.size() >= options_.connections)
        cut(handshaking_.front(), refusal_reason::handshakes_limit);
      const auto number = next_number_++;
      // Reports only the end of both directions, which epoll always does.
      if (!watch(ours.get(), 0, number)) {
        warn(fmt::format("its socket cannot be watched: {}", std::strerror(errno)));
        return count(refusal_reason::out_of_descriptors, from);
      }
      handshaking_.push_back({number, std::move(ours), from, std::chrono::steady_clock::now()});
      by_number_[number] = by_origin_[std::move(from)] = std::prev(handshaking_.end());
    }
    set_options(socket.get());
    options_.connected(socket.release());
  }

  // gRPC or the peer has closed the connection.
  void gone(std::uint64_t number) {
    {
      std::lock_guard lock{mutex_};
      const auto found = by_number_.find(number);
      if (found == by_number_.end()) return;
      // gRPC has the same timeout for the TLS handshake, and may close it first.
      const auto age = std::chrono::steady_clock::now() - found->second->since;
      const bool late = age >= defaults::handshake_limit - defaults::handshake_round;
      count(*found->second,
            late ? refusal_reason::handshake_timeout : refusal_reason::handshake_failed);
      forget(found->second);
    }
    tell();
  }

  void forget(connections::iterator one) {
    ::epoll_ctl(events_.get(), EPOLL_CTL_DEL, one->socket.get(), nullptr);
    by_number_.erase(one->number);
    if (const auto origin = by_origin_.find(one->from);
        origin != by_origin_.end() && origin->second == one)
      by_origin_.erase(origin);
    (one->settled ? established_ : handshaking_).erase(one);
  }

  void cut_late(time_point now) {
    {
      std::lock_guard lock{mutex_};
      while (!handshaking_.empty() && now - handshaking_.front().since >= defaults::handshake_limit)
        cut(handshaking_.front(), refusal_reason::handshake_timeout);
    }
    tell();
  }

  // Without a free descriptor the connection would stay in the queue and wake us forever.
  void refuse_one() {
    spare_ = unique_fd{};
    const unique_fd closed{::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC)};
    spare_ = unique_fd{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
    warn("no file descriptors are left");
    {
      std::lock_guard lock{mutex_};
      count(refusal_reason::out_of_descriptors, {});
    }
    tell();
  }

  void warn(const std::string& reason) {
    const auto left_out = line_.allow(std::chrono::steady_clock::now());
    if (!left_out) return;
    log().warn("the link rejected a connection: {}{}", reason,
               *left_out == 0 ? "" : fmt::format(" (and {} more)", *left_out));
  }

  // Both require the lock; the recorded refusals are reported without it.
  void count(refusal_reason reason, const std::string& from, const std::string& detail = {}) {
    refused_[static_cast<std::size_t>(reason)].fetch_add(1, std::memory_order_relaxed);
    if (options_.refused) untold_.push_back({reason, from, detail});
  }
  void count(const connection& one, refusal_reason reason) {
    if (!one.had_session && !one.counted) count(reason, one.from);
  }

  void tell() {
    std::vector<refusal> untold;
    {
      std::lock_guard lock{mutex_};
      untold.swap(untold_);
    }
    for (const auto& each : untold)
      options_.refused(each);
  }

  // gRPC notices it and closes its own descriptor.
  void cut(connection& one, refusal_reason reason) {
    count(one, reason);
    ::shutdown(one.socket.get(), SHUT_RDWR);
    forget(by_number_.at(one.number));
  }

  bool watch(int fd, std::uint32_t events, std::uint64_t number) {
    epoll_event event{};
    event.events = events;
    event.data.u64 = number;
    if (options_.watch != nullptr) return options_.watch(events_.get(), fd, event);
    return ::epoll_ctl(events_.get(), EPOLL_CTL_ADD, fd, &event) == 0;
  }

  const options options_;
  const link::address address_;
  unique_fd listening_;
  const unique_fd events_{::epoll_create1(EPOLL_CLOEXEC)};
  const unique_fd stop_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  unique_fd spare_{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
  std::thread thread_;
  line_limit line_{defaults::refusal_line_period};
  std::array<std::atomic<std::uint64_t>, refusal_reasons> refused_{};

  std::mutex mutex_;
  connections handshaking_, established_;
  std::uint64_t next_number_ = listening_event + 1;
  std::unordered_map<std::uint64_t, connections::iterator> by_number_;
  std::unordered_map<std::string, connections::iterator> by_origin_;
  std::vector<refusal> untold_;  // of one event or round: bounded by the number of handshakes
};

connection_acceptor::connection_acceptor(std::unique_ptr<impl> made) : impl_{std::move(made)} {}
connection_acceptor::~connection_acceptor() = default;

tl::expected<std::unique_ptr<connection_acceptor>, std::string> connection_acceptor::open(
    options options) {
  auto listening = listen_at(options.listen);
  if (!listening) return tl::make_unexpected(listening.error());
  link::address address{options.listen.host, port_of(listening->get())};
  auto made = std::make_unique<impl>(std::move(options), std::move(*listening), std::move(address));
  if (const auto ready = made->prepare(); !ready) return tl::make_unexpected(ready.error());
  return std::unique_ptr<connection_acceptor>{new connection_acceptor{std::move(made)}};
}

void connection_acceptor::start() {
  impl_->start();
}

void connection_acceptor::close() {
  impl_->close();
}

link::address connection_acceptor::address() const {
  return impl_->address();
}

void connection_acceptor::settled(const std::string& from, bool is_settled) {
  impl_->settled(from, is_settled);
}

void connection_acceptor::refused(const std::string& from, const std::string& detail) {
  impl_->refused(from, detail);
}

listener_stats connection_acceptor::stats() const {
  return impl_->stats();
}

}  // namespace troupe::runtime::link
