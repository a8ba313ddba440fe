// How many requests may be under way at once, reading and writing ones apart, as upstream's
// max-requests-inflight. Thread safe, without locks.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

namespace troupe::server {

class in_flight {
 public:
  in_flight(std::size_t reads, std::size_t writes);

  // A place, given back when the last copy of the pointer goes; null when all are taken.
  std::shared_ptr<void> enter(bool mutates) const;

  std::size_t reads() const noexcept;
  std::size_t writes() const noexcept;

 private:
  struct counter {
    std::atomic<std::size_t> now{0};
    std::size_t limit;
  };
  // Shared with the places: they may outlive this.
  std::shared_ptr<counter> reads_;
  std::shared_ptr<counter> writes_;
};

}  // namespace troupe::server
