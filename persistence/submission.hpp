// A transaction on its way to the disk, and the bounded queue where it waits.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "persistence/store.hpp"

namespace troupe::persistence {

struct submission {
  transaction what;
  // The stored form of each mutation's content; empty for a removal.
  std::vector<std::string> stored;
  completion done;
  std::size_t size_bytes = 0;
};

// Checks what can be checked without the state, and encodes. `invalid` or `too_large`.
expected<std::vector<std::string>> encode(const transaction& what, std::size_t value_limit_bytes);

// Many threads push, one takes. Nobody blocks but the one that takes.
class submit_queue {
 public:
  using task = std::function<void()>;
  using deadline = std::chrono::steady_clock::time_point;

  struct work {
    std::vector<task> tasks;  // to be run first
    std::vector<submission> submissions;
    bool closed = false;
  };

  submit_queue(std::size_t limit, std::size_t limit_bytes);

  // On failure `what` is as it was.
  expected<void> push(submission& what);
  // Work for the taker itself, to be done between batches. False when closed.
  bool post(task what);

  // From now on push fails with `why`; without it, takes again.
  void refuse(std::optional<error> why);
  // push fails with `closed`; what waits can still be taken.
  void close();

  // The oldest, at most `count` of them and, but for the first, at most `bytes` in all. Waits for
  // something to do until `until`; without it, does not wait.
  work take(std::size_t count, std::size_t bytes, std::optional<deadline> until);

  std::size_t size() const;

 private:
  bool idle() const { return waiting_.empty() && tasks_.empty() && !closed_; }

  const std::size_t limit_;
  const std::size_t limit_bytes_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<submission> waiting_;
  std::vector<task> tasks_;
  std::size_t waiting_bytes_ = 0;
  std::optional<error> refusal_;
  bool closed_ = false;
  bool taker_waits_ = false;
};

}  // namespace troupe::persistence
