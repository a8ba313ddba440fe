#include "persistence/commit/sync_times.hpp"

#include <algorithm>
#include <vector>

namespace troupe::persistence {

void sync_times::add(std::chrono::nanoseconds took) noexcept {
  const auto n = added_.load(std::memory_order_relaxed);
  ring_[n % window].store(static_cast<std::uint64_t>(took.count()), std::memory_order_relaxed);
  added_.store(n + 1, std::memory_order_release);
}

sync_times::summary sync_times::read() const {
  const auto n = added_.load(std::memory_order_acquire);
  if (n == 0) return {};
  std::vector<std::uint64_t> sorted;
  for (std::size_t i = 0; i < std::min<std::uint64_t>(n, window); ++i)
    sorted.push_back(ring_[i].load(std::memory_order_relaxed));
  const std::chrono::nanoseconds last{ring_[(n - 1) % window].load(std::memory_order_relaxed)};
  std::sort(sorted.begin(), sorted.end());
  const auto at = [&](std::size_t percent) {
    return std::chrono::nanoseconds{sorted[(sorted.size() - 1) * percent / 100]};
  };
  return {last, at(50), at(99)};
}

}  // namespace troupe::persistence
