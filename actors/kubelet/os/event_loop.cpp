#include "actors/kubelet/os/event_loop.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <system_error>
#include <vector>

#include "actors/kubelet/defaults.hpp"

namespace troupe::actors {

event_loop::event_loop()
    : epoll_{::epoll_create1(EPOLL_CLOEXEC)}, wake_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)} {
  if (!epoll_ || !wake_)
    throw std::system_error{errno, std::generic_category(), "cannot wait for descriptors"};
  epoll_event event{.events = EPOLLIN, .data = {.fd = wake_.get()}};
  // Without this stop() would wait forever.
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, wake_.get(), &event) != 0)
    throw std::system_error{errno, std::generic_category(), "cannot wait to be woken"};
  thread_ = std::thread{[this] { loop(); }};
}

event_loop::~event_loop() {
  stop();
}

void event_loop::wake() {
  ::eventfd_write(wake_.get(), 1);
}

void event_loop::wait(int fd, readiness awaited, action then) {
  const std::lock_guard guard{mutex_};
  if (stopped_) return;
  const std::uint32_t wanted = awaited == readiness::input ? EPOLLIN : EPOLLOUT;
  epoll_event event{.events = wanted | EPOLLONESHOT, .data = {.fd = fd}};
  // Already registered: by an earlier wait, or a pending one.
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0 ||
      (errno == EEXIST && ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event) == 0)) {
    waiting_[fd] = std::move(then);
    return;
  }
  // Out of memory: retry, because no event would be delivered.
  due_[{clock::now() + kubelet_defaults::recheck_delay, ++last_}] =
      [this, fd, awaited, then = std::move(then)] { wait(fd, awaited, then); };
  wake();
}

void event_loop::wait_and_close(runtime::unique_fd fd, action then) {
  const int number = fd.get();
  wait(number, readiness::input,
       [held = std::make_shared<runtime::unique_fd>(std::move(fd)), then = std::move(then)] {
         held->reset();
         then();
       });
}

void event_loop::forget(int fd) {
  action dropped;  // destroyed outside of the lock: it may own objects that use this loop
  const std::lock_guard guard{mutex_};
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
  if (const auto found = waiting_.find(fd); found != waiting_.end()) {
    dropped = std::move(found->second);
    waiting_.erase(found);
  }
}

event_loop::moment event_loop::after(std::chrono::milliseconds delay, action then) {
  const std::lock_guard guard{mutex_};
  const moment at{clock::now() + delay, ++last_};
  if (stopped_) return at;
  due_.emplace(at, std::move(then));
  wake();
  return at;
}

void event_loop::cancel(const moment& at) {
  action dropped;
  const std::lock_guard guard{mutex_};
  if (const auto found = due_.find(at); found != due_.end()) {
    dropped = std::move(found->second);
    due_.erase(found);
  }
}

void event_loop::stop() {
  {
    const std::lock_guard guard{mutex_};
    stopped_ = true;
    wake();
  }
  if (thread_.joinable()) thread_.join();
  decltype(waiting_) waiting;
  decltype(due_) due;
  const std::lock_guard guard{mutex_};
  waiting.swap(waiting_);
  due.swap(due_);
}

int event_loop::patience_ms() {
  const std::lock_guard guard{mutex_};
  if (due_.empty()) return -1;
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(due_.begin()->first.first - clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 3'600'000));
}

// Runs the timers that are due; timers that they add run after the descriptors' actions.
void event_loop::run_due() {
  std::vector<action> now;
  {
    const std::lock_guard guard{mutex_};
    const auto end = due_.upper_bound({clock::now(), last_});
    for (auto each = due_.begin(); each != end; ++each)
      now.push_back(std::move(each->second));
    due_.erase(due_.begin(), end);
  }
  for (auto& each : now)
    each();
}

void event_loop::run_ready(int fd) {
  action then;
  {
    const std::lock_guard guard{mutex_};
    const auto found = waiting_.find(fd);
    if (found == waiting_.end()) return;
    then = std::move(found->second);
    waiting_.erase(found);
  }
  then();
}

void event_loop::loop() {
  for (;;) {
    // One event at a time: an action may close a descriptor, and its number may be reused.
    epoll_event event;
    const int count = ::epoll_wait(epoll_.get(), &event, 1, patience_ms());
    {
      const std::lock_guard guard{mutex_};
      if (stopped_) return;
    }
    eventfd_t rung = 0;
    if (count == 1 && event.data.fd == wake_.get())
      ::eventfd_read(wake_.get(), &rung);
    else if (count == 1)
      run_ready(event.data.fd);
    run_due();
  }
}

}  // namespace troupe::actors
