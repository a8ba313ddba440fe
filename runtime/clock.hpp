// Clocks for actors: a monotonic clock for deadlines, a wall clock for time stamps. In a simulation
// both move only when the test advances them.
#pragma once

#include <chrono>

namespace troupe::runtime {

using duration = std::chrono::nanoseconds;
using time_point = std::chrono::time_point<std::chrono::steady_clock, duration>;
using wall_time = std::chrono::time_point<std::chrono::system_clock, duration>;

class clock {
 public:
  virtual ~clock() = default;
  virtual time_point now() const noexcept = 0;
  virtual wall_time wall_now() const noexcept = 0;
};

}  // namespace troupe::runtime
