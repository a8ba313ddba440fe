// A counter cheap enough to read for every message: the CPU's time stamp counter if it has one.
//
// It is used only for statistics. Its rate is computed on demand from two moments far apart
// (`tick_origin`), so that no calibration is needed at startup.
#pragma once

#include <time.h>

#include <chrono>
#include <cstdint>

#include "runtime/clock.hpp"

namespace troupe::runtime {

using tick_count = std::uint64_t;

inline tick_count ticks() noexcept {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<tick_count>(t.tv_sec) * 1'000'000'000 + static_cast<tick_count>(t.tv_nsec);
#endif
}

// Created once at the start of a system; converts ticks to time.
class tick_origin {
 public:
  double nanoseconds_per_tick() const noexcept {
    const auto elapsed = ticks() - ticks_;
    const auto time = std::chrono::steady_clock::now() - time_;
    if (elapsed == 0) return 1;
    return static_cast<double>(duration{time}.count()) / static_cast<double>(elapsed);
  }
  duration age() const noexcept { return std::chrono::steady_clock::now() - time_; }
  time_point moment(tick_count at, double nanoseconds_per_tick) const noexcept {
    const auto after = static_cast<double>(static_cast<std::int64_t>(at - ticks_));
    return time_ + duration{static_cast<std::int64_t>(after * nanoseconds_per_tick)};
  }

 private:
  tick_count ticks_ = ticks();
  std::chrono::steady_clock::time_point time_ = std::chrono::steady_clock::now();
};

}  // namespace troupe::runtime
