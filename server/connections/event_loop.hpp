// One I/O thread: an edge-triggered epoll set, a task queue and a coarse tick for time-outs. Knows
// nothing of HTTP. Everything but `queue()`, `start()` and `stop()` belongs to the thread itself.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "server/connections/task_queue.hpp"

namespace troupe::server {

class event_loop {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  // Something with a descriptor; told of EPOLLIN, EPOLLOUT, EPOLLRDHUP, EPOLLHUP, EPOLLERR. Zero
  // means that its own defer() is due.
  class source {
   public:
    virtual ~source() = default;
    virtual void on_events(std::uint32_t events) = 0;
    // on_events has thrown: what cannot go on ends here, without asking for more memory.
    virtual void on_failure() noexcept {}
  };

  explicit event_loop(std::chrono::milliseconds tick);
  event_loop(const event_loop&) = delete;
  event_loop& operator=(const event_loop&) = delete;
  ~event_loop();

  // `on_tick` runs about every tick; `on_end` at the end of the thread.
  void start(const std::string& thread_name, std::function<void()> on_tick,
             std::function<void()> on_end);
  // Waits for the thread; what has been posted before is still done.
  void stop();
  const std::shared_ptr<task_queue>& queue() const noexcept { return queue_; }

  // -- on the thread ------------------------------------------------------------------------------

  // False: the kernel refused (the limit of descriptors or memory).
  bool watch(int descriptor, source& source);
  // Before the descriptor is closed. Closing alone is not enough: a child process that was forked a
  // moment ago still holds the open file, and epoll would go on telling of it.
  void forget(int descriptor) noexcept;
  // Calls `who.on_events(0)` after those with events, and those that were deferred before, have had
  // their turn. Each defers itself once at a time.
  void defer(source& source);
  // Destroys `who` when no event of this round can mean it any more. Its descriptor is forgotten.
  void bury(std::unique_ptr<source> source);
  // As of the last wake-up.
  time_point now() const noexcept { return now_; }

 private:
  void run();
  void wait_and_dispatch();
  void run_tasks();

  const std::chrono::milliseconds tick_;
  const int epoll_;
  std::shared_ptr<task_queue> queue_;
  time_point now_;
  time_point next_tick_;
  bool ending_ = false;
  std::vector<task_queue::task> tasks_;
  std::deque<source*> deferred_;
  std::vector<std::unique_ptr<source>> graves_;
  std::function<void()> on_tick_;
  std::function<void()> on_end_;
  std::thread thread_;
};

}  // namespace troupe::server
