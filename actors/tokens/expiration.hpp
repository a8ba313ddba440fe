// The end of a token, from the text in its Secret.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <string_view>

#include "api/values/timestamp.hpp"

namespace troupe::actors {

// Nothing if the text is no time. The clock counts nanoseconds in 64 bits: a time before 1970 is
// its first, one after 2262 its last.
inline std::optional<std::chrono::system_clock::time_point> parse_expiration(
    std::string_view text) {
  using std::chrono::seconds;
  using time = std::chrono::system_clock::time_point;
  const auto at = api::parse_time(text);
  if (!at) return std::nullopt;
  constexpr auto last = std::chrono::floor<seconds>(time::max()).time_since_epoch();
  return time{std::clamp(seconds{at->seconds}, seconds{0}, last)};
}

}  // namespace troupe::actors
