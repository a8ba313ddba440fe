// A rate limit for log lines that external clients can cause: at most one in each period, and the
// next line reports how many were suppressed. Thread safe.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>

#include "runtime/clock.hpp"

namespace troupe::runtime {

class line_limit {
 public:
  explicit line_limit(duration period) : period_{period} {}

  // The number of lines suppressed since the last one; nothing: suppress this line, too.
  std::optional<std::uint64_t> allow(time_point now) {
    const std::lock_guard lock{mutex_};
    if (last_ && now - *last_ < period_) {
      ++left_out_;
      return std::nullopt;
    }
    last_ = now;
    return std::exchange(left_out_, 0);
  }

 private:
  const duration period_;
  std::mutex mutex_;
  std::optional<time_point> last_;
  std::uint64_t left_out_ = 0;
};

}  // namespace troupe::runtime
