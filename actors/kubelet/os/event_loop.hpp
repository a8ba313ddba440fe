// One thread that waits for descriptors and timers and runs their actions. Actions are short
// and do not block; they may register others. Thread safe, but an action may not call
// `stop`.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "runtime/unique_fd.hpp"

namespace troupe::actors {

class event_loop {
 public:
  using action = std::function<void()>;
  using clock = std::chrono::steady_clock;
  // Identifies a timer.
  using moment = std::pair<clock::time_point, std::uint64_t>;
  enum class readiness : std::uint8_t { input, output };

  event_loop();
  ~event_loop();

  // Runs the action once when `fd` is ready or hung up. `fd` must stay open until then or until
  // `forget`; a second call replaces the first action.
  void wait(int fd, readiness awaited, action then);
  // The same for the end of a process or a pipe; closes `fd` after the action.
  void wait_and_close(runtime::unique_fd fd, action then);
  void forget(int fd);

  moment after(std::chrono::milliseconds delay, action then);
  // Runs the action after those that are pending already.
  void defer(action then) { after(std::chrono::milliseconds{0}, std::move(then)); }
  void cancel(const moment& at);

  // Stops the thread and drops all pending actions.
  void stop();

 private:
  void loop();
  int patience_ms();
  void run_due();
  void run_ready(int fd);
  void wake();

  runtime::unique_fd epoll_, wake_;
  std::mutex mutex_;
  std::map<int, action> waiting_;  // by descriptor
  std::map<moment, action> due_;
  std::uint64_t last_ = 0;
  bool stopped_ = false;
  std::thread thread_;
};

}  // namespace troupe::actors
