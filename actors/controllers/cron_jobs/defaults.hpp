// The constants of the CronJob controller with their sources.
#pragma once

#include <cstddef>
#include <cstdint>

namespace troupe::actors::cron_jobs::defaults {

// More missed starts cause a warning (kubernetes: cronjob/utils.go, mostRecentScheduleTime).
inline constexpr std::int64_t missed_to_tell = 100;

// The search limit for the next start (robfig/cron: SpecSchedule.Next gives up after five years).
inline constexpr int years_ahead = 5;

}  // namespace troupe::actors::cron_jobs::defaults
