// The number of pods to create or delete, and the batch sizes: pure arithmetic.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace troupe::actors::replication {

struct plan {
  std::size_t create = 0;
  std::size_t remove = 0;
};

// At most `burst` at a time (upstream's BurstReplicas): later syncs continue.
constexpr plan make_plan(std::int64_t desired, std::size_t active, std::size_t burst) {
  const auto wanted = static_cast<std::size_t>(std::max<std::int64_t>(desired, 0));
  if (active < wanted) return {.create = std::min(wanted - active, burst)};
  return {.remove = std::min(active - wanted, burst)};
}

// Returns `create` if at most `most` pods then wait for a node, otherwise 0: a whole batch or none,
// so that a full queue is not refilled one by one. It bounds the pods that a slow scheduler or a
// full cluster has to handle.
constexpr std::size_t limit_waiting(std::size_t create, std::size_t waiting, std::size_t most) {
  return waiting + create <= most ? create : 0;
}

// Sends creations in batches of 1, 2, 4 …, so that a namespace that rejects pods gets one request
// and not 500 (upstream's slowStartBatch). A batch with a failure is the last.
class slow_start {
 public:
  explicit slow_start(std::size_t count) : left_{count} {}

  // The size of the next batch; 0 if all are sent or a batch failed.
  std::size_t next() {
    if (failed_) return 0;
    const std::size_t batch = std::min(size_, left_);
    left_ -= batch;
    size_ *= 2;
    return batch;
  }
  void fail() noexcept { failed_ = true; }

 private:
  std::size_t left_;
  std::size_t size_ = 1;
  bool failed_ = false;
};

}  // namespace troupe::actors::replication
