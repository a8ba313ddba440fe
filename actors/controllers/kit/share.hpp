// A number of pods given as an absolute number or as a percentage. Pure function.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>

#include "api/schema/intstr.pb.h"

namespace troupe::actors {

enum class rounding { up, down };

// The share of `total` pods. Validation accepts only digits and a %; a number that overflows is
// capped (kubernetes: intstr.GetScaledValueFromIntOrPercent).
inline std::int32_t share_of(const api::intstr::IntOrString& given, std::int32_t total,
                             rounding mode) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (given.type() == 0) return std::max<std::int32_t>(given.int_val(), 0);
  const auto& text = given.str_val();
  std::int64_t percent = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), percent).ec != std::errc{})
    percent = most;
  const auto hundredfold = std::clamp<std::int64_t>(percent, 0, most) * total;
  return static_cast<std::int32_t>(
      std::min((hundredfold + (mode == rounding::up ? 99 : 0)) / 100, most));
}

}  // namespace troupe::actors
