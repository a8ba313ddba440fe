// How long something has been going on, as kubectl shows it: "45s", "3m20s", "5h", "2d4h", "1y30d".
#pragma once

#include <cstdint>
#include <string>

namespace troupe::api {

// Two units while the larger is small, one after that (upstream: duration.HumanDuration). Up to two
// seconds in the future count as now: clocks differ.
std::string human_duration(std::int64_t seconds);

// The age of a moment; "<unknown>" of none (0).
std::string age_at(std::int64_t now_seconds, std::int64_t since_seconds);

}  // namespace troupe::api
