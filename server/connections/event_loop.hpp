// One I/O thread: an edge-triggered epoll set, a task queue and a coarse tick for time-outs. It
// does not depend on HTTP. Only `queue()`, `start()` and `stop()` may be called by other
// threads.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "runtime/unique_fd.hpp"
#include "server/connections/task_queue.hpp"

namespace troupe::server {

class event_loop {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  // An owner of a descriptor; notified of EPOLLIN, EPOLLOUT, EPOLLRDHUP, EPOLLHUP and EPOLLERR.
  // Zero means that its own defer() is due.
  class source {
   public:
    virtual ~source() = default;
    virtual void on_events(std::uint32_t events) = 0;
    // on_events has thrown: closes the source without allocating memory.
    virtual void on_failure() noexcept {}
  };

  explicit event_loop(std::chrono::milliseconds tick);
  event_loop(const event_loop&) = delete;
  event_loop& operator=(const event_loop&) = delete;
  ~event_loop();

  // `on_tick` runs about every tick; `on_end` at the end of the thread.
  void start(const std::string& thread_name, std::function<void()> on_tick,
             std::function<void()> on_end);
  // Waits for the thread; tasks posted before still run.
  void stop();
  const std::shared_ptr<task_queue>& queue() const noexcept { return queue_; }

  // -- on the thread ------------------------------------------------------------------------------

  // Returns false if the kernel refuses (limit of descriptors or memory).
  bool watch(int descriptor, source& source);
  // Call it before the descriptor is closed. Closing is not enough: a child process forked shortly
  // before still has the file open, and epoll would keep reporting events of it.
  void forget(int descriptor) noexcept;
  // Calls `source.on_events(0)` after the sources with events, and those deferred earlier, have had
  // their turn. A source may be deferred once at a time.
  void defer(source& source);
  // Destroys `source` when no event of this round can refer to it. Its descriptor is forgotten.
  void destroy_later(std::unique_ptr<source> source);
  // The time of the last wake-up.
  time_point now() const noexcept { return now_; }

 private:
  void run();
  void wait_and_dispatch();
  void run_tasks();

  const std::chrono::milliseconds tick_;
  const runtime::unique_fd epoll_;
  std::shared_ptr<task_queue> queue_;
  time_point now_;
  time_point next_tick_;
  bool ending_ = false;
  std::vector<task_queue::task> tasks_;
  std::deque<source*> deferred_;
  std::vector<std::unique_ptr<source>> ended_sources_;
  std::function<void()> on_tick_;
  std::function<void()> on_end_;
  std::thread thread_;
};

}  // namespace troupe::server
