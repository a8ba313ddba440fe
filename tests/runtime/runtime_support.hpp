// Shared parts of the room's tests: waiting for other threads without sleeping.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/actor_system.hpp"

namespace troupe::test {

// Long enough for a slow sanitizer build on a busy machine.
inline constexpr std::chrono::seconds patience{60};

// Values that any thread adds and the test waits for.
template <class T>
class log_of {
 public:
  void add(T value) {
    // Notifies under the lock: the test may destroy this as soon as it is woken.
    std::lock_guard lock{mutex_};
    values_.push_back(std::move(value));
    changed_.notify_all();
  }
  bool await(std::size_t count) const {
    std::unique_lock lock{mutex_};
    return changed_.wait_for(lock, patience, [&] { return values_.size() >= count; });
  }
  std::vector<T> all() const {
    std::lock_guard lock{mutex_};
    return values_;
  }
  std::size_t size() const {
    std::lock_guard lock{mutex_};
    return values_.size();
  }

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::vector<T> values_;
};

}  // namespace troupe::test
