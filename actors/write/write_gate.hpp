// Where a term of leadership ends: what its actors send from then on is refused, though some of
// them still run. When close() returns nothing more of them reaches the write service, so that a
// barrier of the next term is behind all that this one did. Thread safe.
#pragma once

#include <atomic>
#include <mutex>

namespace troupe::actors {

class write_gate {
 public:
  // Runs `write` unless it is closed; false when it is. Not from within close() or another write.
  template <class F>
  bool pass(F write) {
    const std::lock_guard lock{mutex_};
    if (closed_) return false;
    write();
    return true;
  }

  void close() {
    const std::lock_guard lock{mutex_};
    closed_ = true;
  }
  bool closed() const noexcept { return closed_; }

 private:
  std::mutex mutex_;
  std::atomic<bool> closed_{false};
};

}  // namespace troupe::actors
