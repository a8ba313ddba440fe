// Lengths of time as the API writes them, which is as Go does: "1h2m3.5s", "250ms", "0s".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace troupe::api {

// go: time.Duration.String. Exact, for every number of nanoseconds.
std::string format_duration(std::int64_t nanoseconds);

// go: time.ParseDuration. Numbers with the units h, m, s, ms, us, µs and ns, one after the other;
// digits below a nanosecond are cut off. Nothing where it is none or does not fit.
std::optional<std::int64_t> parse_duration(std::string_view text);

}  // namespace troupe::api
