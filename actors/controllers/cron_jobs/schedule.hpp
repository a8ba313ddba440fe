// The start times of a cron schedule in a time zone. Pure, except that zones are read from the
// machine's zone database (docs/decisions/0044-time-zones.md).
//
// Follows upstream's library (robfig/cron v3): an hour that the zone skips is skipped, a repeated
// hour fires twice, and if both day fields are restricted a match of either is enough.
#pragma once

#include <absl/time/time.h>

#include <cstdint>
#include <optional>
#include <string>

#include "api/values/cron.hpp"

namespace troupe::actors::cron_jobs {

// Returns nothing if the zone is unknown. An empty name is the machine's zone.
std::optional<absl::TimeZone> find_zone(const std::string& name);

// The first start after `second` (since the epoch); nothing if there is none within five years.
std::optional<std::int64_t> next_start(const api::cron_schedule& schedule,
                                       const absl::TimeZone& zone, std::int64_t second);

struct missed_starts {
  std::optional<std::int64_t> latest;  // not after `now`
  std::int64_t count = 0;              // an estimate if the schedule is irregular
};
// The starts after `since` up to `now`.
missed_starts starts_between(const api::cron_schedule& schedule, const absl::TimeZone& zone,
                             std::int64_t since, std::int64_t now);

}  // namespace troupe::actors::cron_jobs
