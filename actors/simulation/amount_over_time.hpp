// An amount that a simulated pod uses, and how it changes. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "api/values/quantity.hpp"

namespace troupe::actors {

// An amount that changes with time: "250m", or "0s=1,10m=4,30m=1", the last step that has begun.
class amount_over_time {
 public:
  // Nothing where the text makes no sense.
  static std::optional<amount_over_time> parse(std::string_view text);
  // Nothing before the first step.
  api::quantity at(std::int64_t seconds) const;
  // The amount over the time until then: of processors, nanoseconds that they have worked.
  std::uint64_t total_ns(std::int64_t seconds) const;

 private:
  struct step {
    std::int64_t after_ns;
    api::quantity amount;
  };
  std::vector<step> steps_;  // in order
};

// What so many processors work in a second.
std::uint64_t nanos_of(const api::quantity& cores);

}  // namespace troupe::actors
