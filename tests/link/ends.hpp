// Receivers for the tests of the room: they record received frames, or hold them.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/link/link.hpp"

namespace troupe::test {

namespace link = runtime::link;

// Long enough for a slow sanitizer build on a busy machine.
inline constexpr std::chrono::seconds patience{60};

// Polls a condition of which no notification exists.
template <class Condition>
bool eventually(Condition holds) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

// Records the texts of all frames and the reason of the end. With `hold`, keeps the deliveries
// themselves until `let_go`.
class notebook final : public link::receiver {
 public:
  explicit notebook(bool hold = false) : hold_{hold} {}

  void received(link::delivery frame) override {
    if (on_frame) on_frame(frame.bytes());
    std::lock_guard lock{mutex_};
    frames_.push_back(frame.bytes());
    if (hold_) held_.push_back(std::move(frame));
    changed_.notify_all();
  }
  void ended(const std::string& reason) override {
    std::lock_guard lock{mutex_};
    ends_.push_back(reason);
    changed_.notify_all();
  }

  std::vector<std::string> frames() const {
    std::lock_guard lock{mutex_};
    return frames_;
  }
  std::vector<std::string> ends() const {
    std::lock_guard lock{mutex_};
    return ends_;
  }
  std::size_t count() const {
    std::lock_guard lock{mutex_};
    return frames_.size();
  }
  bool await_frames(std::size_t count) const {
    std::unique_lock lock{mutex_};
    return changed_.wait_for(lock, patience, [&] { return frames_.size() >= count; });
  }
  bool await_end(std::chrono::milliseconds limit = patience) const {
    std::unique_lock lock{mutex_};
    return changed_.wait_for(lock, limit, [&] { return !ends_.empty(); });
  }
  void hold() {
    std::lock_guard lock{mutex_};
    hold_ = true;
  }
  // Releases the held deliveries and their window, and holds none from now on.
  void let_go() {
    std::deque<link::delivery> gone;
    {
      std::lock_guard lock{mutex_};
      hold_ = false;
      gone.swap(held_);
    }
  }

  // Called for each frame before it is recorded; set it before the first one.
  std::function<void(const std::string&)> on_frame;

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool hold_;
  std::vector<std::string> frames_;
  std::deque<link::delivery> held_;
  std::vector<std::string> ends_;
};

}  // namespace troupe::test
