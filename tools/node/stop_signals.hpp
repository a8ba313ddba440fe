// The signals that ask the process to end: SIGTERM, SIGINT (Ctrl-C) and SIGHUP; SIGHUP is ignored
// if the parent ignored it, as nohup does. The first one
// starts an orderly shutdown and a timer; a second signal, or the timer, ends the process at once.
// The data on disk is consistent at any moment, so a shutdown that hangs gains nothing. Uses one
// thread of its own.
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
  // Blocks the signals in this thread and in all threads that start later: construct it before any
  // other thread. A child process must unblock them itself.
  explicit stop_signals(std::chrono::milliseconds limit);
  stop_signals(const stop_signals&) = delete;
  stop_signals& operator=(const stop_signals&) = delete;
  // The orderly shutdown is complete: stops the timer.
  ~stop_signals();

  // Returns the first signal, which may have arrived long before.
  int wait();
  // Has the effect of SIGTERM, once; from any thread.
  void end();
  // True if a signal arrives before `then`, or has arrived earlier.
  bool wait_until(std::chrono::steady_clock::time_point then);

 private:
  void watch();
  // Time-out for poll() in ms: unlimited (-1) before the first signal, then until the limit.
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
