// Durations in the format of Go and the API: "1h2m3.5s", "250ms", "0s".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace troupe::api {

// go: time.Duration.String. Exact for every number of nanoseconds.
std::string format_duration(std::int64_t nanoseconds);

// go: time.ParseDuration. A sequence of numbers with the units h, m, s, ms, us, µs and ns;
// truncates below a nanosecond. Returns nullopt if the text is invalid or out of range.
std::optional<std::int64_t> parse_duration(std::string_view text);

}  // namespace troupe::api
