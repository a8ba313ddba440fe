#include "link/relay.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/link/transport/socket.hpp"

namespace troupe::test {

using runtime::unique_fd;
using runtime::link::address;

struct relay::impl {
  struct connection {
    unique_fd caller, called;
  };

  explicit impl(address to)
      : target{std::move(to)}, listening{*runtime::link::listen_at({"127.0.0.1", 0})} {
    thread = std::thread{[this] { run(); }};
  }
  ~impl() {
    stopping = true;
    wake();
    thread.join();
  }

  void wake() {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(wakeup.get(), &one, sizeof one);
  }

  void run() {
    while (!stopping) {
      std::vector<pollfd> watched{{listening.get(), POLLIN, 0}, {wakeup.get(), POLLIN, 0}};
      if (!frozen) {
        std::lock_guard lock{mutex};
        for (const auto& one : connections) {
          watched.push_back({one.caller.get(), POLLIN, 0});
          watched.push_back({one.called.get(), POLLIN, 0});
        }
      }
      ::poll(watched.data(), watched.size(), -1);
      if ((watched[1].revents & POLLIN) != 0) {
        std::uint64_t count = 0;
        [[maybe_unused]] const auto read = ::read(wakeup.get(), &count, sizeof count);
        if (std::lock_guard lock{mutex}; cutting.exchange(false)) connections.clear();
        continue;
      }
      if ((watched[0].revents & POLLIN) != 0) accept_one();
      for (std::size_t i = 2; i + 1 < watched.size(); i += 2) {
        if (watched[i].revents != 0) pass(watched[i].fd, watched[i + 1].fd);
        if (watched[i + 1].revents != 0) pass(watched[i + 1].fd, watched[i].fd);
      }
    }
  }

  void accept_one() {
    connection made{unique_fd{::accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC)},
                    unique_fd{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)}};
    sockaddr_in there{};
    there.sin_family = AF_INET;
    there.sin_port = htons(target.port);
    ::inet_pton(AF_INET, target.host.c_str(), &there.sin_addr);
    if (!frozen &&
        ::connect(made.called.get(), reinterpret_cast<sockaddr*>(&there), sizeof there) != 0)
      return;
    std::lock_guard lock{mutex};
    connections.push_back(std::move(made));
  }

  void pass(int from, int to) {
    std::array<char, 65'536> bytes;
    const auto count = ::recv(from, bytes.data(), bytes.size(), 0);
    if (count > 0) {
      for (ssize_t gone = 0; gone < count;) {
        const auto sent = ::send(to, bytes.data() + gone, count - gone, MSG_NOSIGNAL);
        if (sent <= 0) break;
        gone += sent;
      }
      return;
    }
    std::lock_guard lock{mutex};
    std::erase_if(connections, [&](const connection& one) {
      return one.caller.get() == from || one.called.get() == from;
    });
  }

  const address target;
  unique_fd listening;
  unique_fd wakeup{::eventfd(0, EFD_CLOEXEC)};
  std::mutex mutex;
  std::vector<connection> connections;
  std::atomic<bool> frozen{false}, cutting{false}, stopping{false};
  std::thread thread;
};

relay::relay(address to) : impl_{std::make_unique<impl>(std::move(to))} {}
relay::~relay() = default;

address relay::listens_at() const {
  return {"127.0.0.1", runtime::link::port_of(impl_->listening.get())};
}

void relay::cut() {
  impl_->cutting = true;
  impl_->wake();
}

void relay::freeze() {
  impl_->frozen = true;
  impl_->wake();
}

void relay::heal() {
  impl_->frozen = false;
  cut();
}

std::size_t relay::connections() const {
  std::lock_guard lock{impl_->mutex};
  return impl_->connections.size();
}

}  // namespace troupe::test
