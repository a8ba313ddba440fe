// Durations as kubectl shows them: "45s", "3m20s", "5h", "2d4h", "1y30d".
#pragma once

#include <cstdint>
#include <string>

namespace troupe::api {

// Two units while the larger one is small, then one (upstream: duration.HumanDuration). Up to two
// seconds in the future count as now, because clocks differ.
std::string human_duration(std::int64_t seconds);

// The age of a timestamp; "<unknown>" for 0.
std::string age_at(std::int64_t now_seconds, std::int64_t since_seconds);

}  // namespace troupe::api
