// The latencies of the latest disk writes. One thread adds, any thread reads.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>

namespace troupe::persistence {

class sync_times {
 public:
  struct summary {
    std::chrono::nanoseconds last{0}, p50{0}, p99{0};
  };

  void add(std::chrono::nanoseconds took) noexcept;
  summary read() const;

 private:
  static constexpr std::size_t window = 512;
  std::array<std::atomic<std::uint64_t>, window> ring_{};
  std::atomic<std::uint64_t> added_{0};
};

}  // namespace troupe::persistence
