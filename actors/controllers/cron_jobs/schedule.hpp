// When a cron schedule fires, in a time zone. Pure, but that zones are read from the machine's zone
// database (docs/decisions/0044-time-zones.md).
//
// As upstream's library (robfig/cron v3): an hour that the zone leaves out is left out, one that it
// repeats counts twice, and where both day fields name days either is enough.
#pragma once

#include <absl/time/time.h>

#include <cstdint>
#include <optional>
#include <string>

#include "api/values/cron.hpp"

namespace troupe::actors::cron_jobs {

// Nothing where there is no such zone. Empty: that of this machine.
std::optional<absl::TimeZone> find_zone(const std::string& name);

// The first start after `second` (since the epoch); nothing within five years.
std::optional<std::int64_t> next_start(const api::cron_schedule& schedule,
                                       const absl::TimeZone& zone, std::int64_t second);

struct missed_starts {
  std::optional<std::int64_t> latest;  // not after `now`
  std::int64_t count = 0;              // an estimate where the schedule is irregular
};
// Those after `since` up to `now`.
missed_starts starts_between(const api::cron_schedule& schedule, const absl::TimeZone& zone,
                             std::int64_t since, std::int64_t now);

}  // namespace troupe::actors::cron_jobs
