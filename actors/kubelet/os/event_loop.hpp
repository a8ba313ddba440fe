// One thread that waits for descriptors and for moments, and does what was asked for then. Actions
// are short and do not block; they may ask for more. Thread safe; `stop` may not be called by an
// action.
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
  // Names what is to be done at a moment.
  using moment = std::pair<clock::time_point, std::uint64_t>;
  enum class readiness : std::uint8_t { input, output };

  event_loop();
  ~event_loop();

  // Once, when `fd` is ready or hung up. It stays open until then, or until `forget`; asking again
  // replaces what was asked for.
  void wait(int fd, readiness awaited, action then);
  // The same for the end of a process or of a pipe; closes `fd` after it.
  void wait_and_close(runtime::unique_fd fd, action then);
  void forget(int fd);

  moment after(std::chrono::milliseconds delay, action then);
  // As soon as what was asked for before has been looked at.
  void soon(action then) { after(std::chrono::milliseconds{0}, std::move(then)); }
  void cancel(const moment& at);

  // Does nothing any more, and forgets all.
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
