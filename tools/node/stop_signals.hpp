// The signals that ask the process to end: SIGTERM, SIGINT (Ctrl-C) and SIGHUP. The first one
// starts an orderly end and a clock; a second one, or the clock, ends the process at once: what is
// on disk is whole at any moment, so an end that hangs is worth nothing. One thread of its own
// watches them.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "runtime/unique_fd.hpp"

namespace troupe::tools {

class stop_signals {
 public:
  // Blocks the signals in this thread and so in all that start later: to be made before any other
  // thread. A child process must unblock them for itself.
  explicit stop_signals(std::chrono::milliseconds limit);
  stop_signals(const stop_signals&) = delete;
  stop_signals& operator=(const stop_signals&) = delete;
  // The orderly end is reached: the clock stops.
  ~stop_signals();

  // Returns the first signal, perhaps one that came long ago.
  int wait();
  // As if SIGTERM had come, once; from any thread.
  void end();
  // True when one has come, before `then` or long ago.
  bool wait_until(std::chrono::steady_clock::time_point then);

 private:
  void watch();
  // Milliseconds that poll() may wait: for ever (-1) before the first signal, then until the limit.
  int poll_timeout_ms() const;

  const std::chrono::milliseconds limit_;
  runtime::unique_fd signals_, finished_;
  std::chrono::steady_clock::time_point deadline_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  int first_ = 0;
  std::atomic<bool> end_requested_{false};
  std::thread watcher_;
};

}  // namespace troupe::tools
