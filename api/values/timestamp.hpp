// Timestamps of the API: RFC 3339, UTC.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace troupe::api {

struct moment {
  std::int64_t seconds = 0;  // since 1970-01-01T00:00:00Z
  std::int32_t nanos = 0;    // 0 to 999,999,999
};

// The years 1 to 9999: the range of RFC 3339, without Go's zero time.
inline constexpr std::int64_t first_second = -62'135'596'800;
inline constexpr std::int64_t last_second = 253'402'300'799;

// "2006-01-02T15:04:05Z", with any fraction and any offset; nullopt if it is invalid.
std::optional<moment> parse_time(std::string_view text) noexcept;

// Without fraction. Clamps seconds to the range of RFC 3339.
void append_time(std::string& out, std::int64_t seconds);
// With six digits of fraction.
void append_micro_time(std::string& out, moment at);
// With nine digits: such texts sort by time.
std::string format_nano_time(moment at);

std::string format_time(std::int64_t seconds);

}  // namespace troupe::api
