// Rate limit of a container's log: a burst of one second's worth, then so many bytes per second. A
// container that writes faster is blocked, because its pipe is not read: a flood costs the node
// neither disk nor processor time. Pure.
#pragma once

#include <algorithm>
#include <cstdint>

namespace troupe::actors {

class log_rate_limit {
 public:
  explicit log_rate_limit(std::int64_t bytes_per_second)
      : per_second_{bytes_per_second}, left_{bytes_per_second} {}

  void take(std::int64_t bytes) { left_ -= bytes; }
  // Milliseconds until the next bytes may be taken; `now_ms` must be monotonic.
  std::int64_t wait_ms(std::int64_t now_ms) {
    const auto passed = std::clamp<std::int64_t>(now_ms - last_ms_, 0, longest_ms);
    last_ms_ = now_ms;
    left_ = std::min(per_second_, left_ + per_second_ * passed / 1000);
    return left_ > 0 ? 0 : (-left_ * 1000) / per_second_ + 1;
  }

 private:
  static constexpr std::int64_t longest_ms = 10'000;
  std::int64_t per_second_, left_;
  std::int64_t last_ms_ = 0;
};

}  // namespace troupe::actors
