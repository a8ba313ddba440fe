// Closes at the end of a leadership term: later writes of the term's actors are rejected although
// some of them still run. When close() returns, no further write of the term reaches the write
// service, so a barrier of the next term follows all of its writes. Thread safe.
#pragma once

#include <atomic>
#include <mutex>

namespace troupe::actors {

class write_gate {
 public:
  // Runs `write` and returns true unless closed. Not to be called in `write` or
  // close().
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
