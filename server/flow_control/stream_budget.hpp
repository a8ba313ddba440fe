// Counts the bytes waiting in all streams of a server, and limits each stream to the free
// part of the total: a few slow clients get large buffers and very many get small ones
// (dynamic thresholds of shared-memory switches; Choudhury and Hahne, 1998). Thread safe and
// lock-free.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>

#include "server/defaults.hpp"

namespace troupe::server {

class stream_budget {
 public:
  // `of_stream`: the maximum of one stream.
  stream_budget(std::size_t in_all_bytes, std::size_t of_stream_bytes)
      : in_all_{in_all_bytes}, of_stream_{of_stream_bytes} {}

  void add(std::size_t bytes) noexcept { bytes_.fetch_add(bytes, std::memory_order_relaxed); }
  void subtract(std::size_t bytes) noexcept { bytes_.fetch_sub(bytes, std::memory_order_relaxed); }

  std::size_t bytes() const noexcept { return bytes_.load(std::memory_order_relaxed); }
  std::size_t of_stream() const noexcept { return of_stream_; }

  // With more bytes waiting, a stream's write() returns false. The last write may exceed the limit.
  std::size_t limit() const noexcept {
    const auto taken = bytes();
    const auto free = in_all_ > taken ? in_all_ - taken : 0;
    return std::min(of_stream_, std::max(free, defaults::stream_least_bytes));
  }

 private:
  const std::size_t in_all_;
  const std::size_t of_stream_;
  std::atomic<std::size_t> bytes_{0};
};

}  // namespace troupe::server
