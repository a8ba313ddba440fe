// The resource usage of a simulated pod over time. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "api/values/quantity.hpp"

namespace troupe::actors {

// A step function of time: "250m", or "0s=1,10m=4,30m=1"; the last step that has begun applies.
class amount_over_time {
 public:
  // Returns nothing if the text is invalid.
  static std::optional<amount_over_time> parse(std::string_view text);
  // Zero before the first step.
  api::quantity at(std::int64_t seconds) const;
  // The integral from 0 to `seconds`: for CPUs, nanoseconds of CPU time.
  std::uint64_t total_ns(std::int64_t seconds) const;

 private:
  struct step {
    std::int64_t after_ns;
    api::quantity amount;
  };
  std::vector<step> steps_;  // in order
};

// The CPU time of this many CPUs in one second.
std::uint64_t nanos_of(const api::quantity& cores);

}  // namespace troupe::actors
