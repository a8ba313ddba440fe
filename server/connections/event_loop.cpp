#include "server/connections/event_loop.hpp"

#include <pthread.h>
#include <spdlog/spdlog.h>
#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <exception>
#include <system_error>

namespace troupe::server {
namespace {

constexpr std::size_t events_at_once = 128;

void add(int epoll, int descriptor, std::uint32_t events, void* data) {
  epoll_event event{};
  event.events = events;
  event.data.ptr = data;
  if (::epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event) != 0)
    throw std::system_error(errno, std::generic_category(), "epoll_ctl");
}

// An error of one source (usually out of memory) closes that source and does not end the thread.
// Logged at each power of two of the number of errors.
template <class F, class Else>
void guarded(F f, Else otherwise) {
  try {
    return f();
  } catch (const std::exception& e) {
    static std::atomic<std::uint64_t> failures{0};
    if (const auto count = ++failures; std::has_single_bit(count))
      spdlog::error("server: a connection failed: {} ({} so far)", e.what(), count);
  }
  otherwise();
}

}  // namespace

event_loop::event_loop(std::chrono::milliseconds tick)
    : tick_{tick},
      epoll_{::epoll_create1(EPOLL_CLOEXEC)},
      queue_{std::make_shared<task_queue>()},
      now_{std::chrono::steady_clock::now()},
      next_tick_{now_ + tick} {
  if (!epoll_) throw std::system_error(errno, std::generic_category(), "epoll_create1");
  add(epoll_.get(), queue_->descriptor(), EPOLLIN | EPOLLET, nullptr);
}

event_loop::~event_loop() {
  stop();
}

void event_loop::start(const std::string& thread_name, std::function<void()> on_tick,
                       std::function<void()> on_end) {
  on_tick_ = std::move(on_tick);
  on_end_ = std::move(on_end);
  thread_ = std::thread{[this] { run(); }};
  pthread_setname_np(thread_.native_handle(), thread_name.substr(0, 15).c_str());
}

void event_loop::stop() {
  if (!thread_.joinable()) return;
  queue_->post([this] { ending_ = true; });
  thread_.join();
}

bool event_loop::watch(int descriptor, source& source) {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
  event.data.ptr = &source;
  return ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, descriptor, &event) == 0;
}

void event_loop::forget(int descriptor) noexcept {
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, descriptor, nullptr);
}

void event_loop::defer(source& source) {
  deferred_.push_back(&source);
}

void event_loop::destroy_later(std::unique_ptr<source> source) {
  std::erase(deferred_, source.get());
  ended_sources_.push_back(std::move(source));
}

void event_loop::run() {
  while (!ending_) {
    wait_and_dispatch();
    run_tasks();
    if (now_ >= next_tick_) {
      guarded([&] { on_tick_(); }, [] {});
      next_tick_ = now_ + tick_;
    }
    ended_sources_.clear();
  }
  on_end_();
  ended_sources_.clear();
  queue_->close();
}

void event_loop::wait_and_dispatch() {
  std::array<epoll_event, events_at_once> events;
  const auto until_tick =
      std::chrono::ceil<std::chrono::milliseconds>(next_tick_ - std::chrono::steady_clock::now());
  const bool sleep = queue_->may_sleep() && deferred_.empty();
  const int timeout_ms =
      sleep ? static_cast<int>(std::max<std::int64_t>(0, until_tick.count())) : 0;
  const int count = ::epoll_wait(epoll_.get(), events.data(), events.size(), timeout_ms);
  now_ = std::chrono::steady_clock::now();

  for (int i = 0; i < count; ++i) {
    if (events[i].data.ptr == nullptr)
      continue;  // the task queue; edge-triggered, so it need not be read
    auto& ready = *static_cast<source*>(events[i].data.ptr);
    guarded([&] { ready.on_events(events[i].events); }, [&] { ready.on_failure(); });
  }
  // Runs one deferred source, then polls again: a busy connection must not delay
  // others. A source passed to destroy_later() above has closed itself and ignores the
  // call.
  if (deferred_.empty()) return;
  source* const next = deferred_.front();
  deferred_.pop_front();
  guarded([&] { next->on_events(0); }, [&] { next->on_failure(); });
}

void event_loop::run_tasks() {
  queue_->take(tasks_);
  for (auto& task : tasks_)
    guarded([&] { task(); }, [] {});
  tasks_.clear();
}

}  // namespace troupe::server
