#include "runtime/link/transport/doorway.hpp"

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
#include <cerrno>
#include <chrono>
#include <cstring>
#include <list>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>

#include "runtime/link/defaults.hpp"
#include "runtime/link/transport/log.hpp"
#include "runtime/link/transport/socket.hpp"
#include "runtime/link/transport/text.hpp"

namespace troupe::runtime::link {

class doorway::impl {
 public:
  impl(options given, descriptor listening, address where)
      : given_{std::move(given)}, where_{std::move(where)}, listening_{std::move(listening)} {}

  ~impl() { close(); }

  void close() {
    if (thread_.joinable()) {
      const std::uint64_t one = 1;
      [[maybe_unused]] const auto written = ::write(stop_.get(), &one, sizeof one);
      thread_.join();
    }
    listening_ = descriptor{};
  }

  tl::expected<void, std::string> prepare() {
    if (!events_ || !stop_)
      return tl::make_unexpected(fmt::format("cannot watch sockets: {}", std::strerror(errno)));
    watch(listening_.get(), EPOLLIN, listening_event);
    watch(stop_.get(), EPOLLIN, stop_event);
    return {};
  }

  void start() {
    thread_ = std::thread{[this] { run(); }};
    pthread_setname_np(thread_.native_handle(), "link-door");
  }

  const address& where() const { return where_; }

  void settled(const std::string& from, bool is_settled) {
    std::lock_guard lock{mutex_};
    const auto found = by_origin_.find(from);
    if (found == by_origin_.end()) return;
    auto& one = *found->second;
    if (one.settled == is_settled) return;
    one.settled = is_settled;
    one.since = std::chrono::steady_clock::now();
    // Those in their handshake stand first to last by age in one list.
    if (is_settled)
      inside_.splice(inside_.end(), arriving_, found->second);
    else
      arriving_.splice(arriving_.end(), inside_, found->second);
  }

 private:
  // What events are told apart by; those of guests are never used again, unlike descriptors.
  static constexpr std::uint64_t stop_event = 0, listening_event = 1;

  struct guest {
    std::uint64_t number = 0;
    descriptor socket;
    std::string from;
    time_point since;
    bool settled = false;
  };
  using guests = std::list<guest>;

  void run() {
    std::array<epoll_event, 64> ready;
    auto next_round = std::chrono::steady_clock::now();
    for (;;) {
      const int count = ::epoll_wait(events_.get(), ready.data(), ready.size(),
                                     defaults::handshake_round / std::chrono::milliseconds{1});
      for (int i = 0; i < count; ++i) {
        const auto which = ready[i].data.u64;
        if (which == stop_event) return;
        if (which == listening_event)
          accept_some();
        else
          gone(which);
      }
      if (const auto now = std::chrono::steady_clock::now(); now >= next_round) {
        cut_late(now);
        next_round = now + defaults::handshake_round;
      }
    }
  }

  void accept_some() {
    for (int i = 0; i < defaults::accepted_at_once; ++i) {
      sockaddr_storage from{};
      socklen_t size = sizeof from;
      descriptor socket{::accept4(listening_.get(), reinterpret_cast<sockaddr*>(&from), &size,
                                  SOCK_NONBLOCK | SOCK_CLOEXEC)};
      if (!socket) {
        if (errno == EMFILE || errno == ENFILE) turn_one_away();
        return;
      }
      let_in(std::move(socket), text_of(from));
    }
  }

  void let_in(descriptor socket, std::string from) {
    descriptor ours{::fcntl(socket.get(), F_DUPFD_CLOEXEC, 0)};
    if (!ours) return;
    {
      std::lock_guard lock{mutex_};
      if (inside_.size() >= given_.connections) {
        log().debug("{} is turned away: {} connections are held", from, inside_.size());
        return;
      }
      if (arriving_.size() >= defaults::handshakes_limit || by_number_.size() >= given_.connections)
        cut(arriving_.front());
      const auto number = next_number_++;
      watch(ours.get(), 0, number);  // the end of both directions, which is always reported
      arriving_.push_back({number, std::move(ours), from, std::chrono::steady_clock::now()});
      by_number_[number] = by_origin_[std::move(from)] = std::prev(arriving_.end());
    }
    set_options(socket.get());
    given_.connected(socket.release());
  }

  // gRPC, or the peer, has closed it.
  void gone(std::uint64_t which) {
    std::lock_guard lock{mutex_};
    const auto found = by_number_.find(which);
    if (found != by_number_.end()) forget(found->second);
  }

  void forget(guests::iterator one) {
    ::epoll_ctl(events_.get(), EPOLL_CTL_DEL, one->socket.get(), nullptr);
    by_number_.erase(one->number);
    if (const auto origin = by_origin_.find(one->from);
        origin != by_origin_.end() && origin->second == one)
      by_origin_.erase(origin);
    (one->settled ? inside_ : arriving_).erase(one);
  }

  void cut_late(time_point now) {
    std::lock_guard lock{mutex_};
    while (!arriving_.empty() && now - arriving_.front().since >= defaults::handshake_limit)
      cut(arriving_.front());
  }

  // Without a descriptor for it a connection would stay in the queue and wake us without end.
  void turn_one_away() {
    spare_ = descriptor{};
    const descriptor closed{::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC)};
    spare_ = descriptor{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
    log().warn("the link turned a connection away: no file descriptors are left");
  }

  // gRPC notices and closes its own descriptor.
  void cut(guest& one) {
    ::shutdown(one.socket.get(), SHUT_RDWR);
    forget(by_number_.at(one.number));
  }

  void watch(int which, std::uint32_t what, std::uint64_t number) {
    epoll_event event{};
    event.events = what;
    event.data.u64 = number;
    ::epoll_ctl(events_.get(), EPOLL_CTL_ADD, which, &event);
  }

  const options given_;
  const address where_;
  descriptor listening_;
  const descriptor events_{::epoll_create1(EPOLL_CLOEXEC)};
  const descriptor stop_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  descriptor spare_{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
  std::thread thread_;

  std::mutex mutex_;
  guests arriving_, inside_;
  std::uint64_t next_number_ = listening_event + 1;
  std::unordered_map<std::uint64_t, guests::iterator> by_number_;
  std::unordered_map<std::string, guests::iterator> by_origin_;
};

doorway::doorway(std::unique_ptr<impl> made) : impl_{std::move(made)} {}
doorway::~doorway() = default;

tl::expected<std::unique_ptr<doorway>, std::string> doorway::open(options given) {
  auto listening = listen_at(given.listen);
  if (!listening) return tl::make_unexpected(listening.error());
  address where{given.listen.host, port_of(listening->get())};
  auto made = std::make_unique<impl>(std::move(given), std::move(*listening), std::move(where));
  if (const auto ready = made->prepare(); !ready) return tl::make_unexpected(ready.error());
  return std::unique_ptr<doorway>{new doorway{std::move(made)}};
}

void doorway::start() {
  impl_->start();
}

void doorway::close() {
  impl_->close();
}

address doorway::where() const {
  return impl_->where();
}

void doorway::settled(const std::string& from, bool is_settled) {
  impl_->settled(from, is_settled);
}

}  // namespace troupe::runtime::link
