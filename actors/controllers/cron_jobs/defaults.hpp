// The numbers of the cron job controller, with where they come from.
#pragma once

#include <cstddef>
#include <cstdint>

namespace troupe::actors::cron_jobs::defaults {

// More missed starts than these are told of (kubernetes: cronjob/utils.go, mostRecentScheduleTime).
inline constexpr std::int64_t missed_to_tell = 100;

// How far a start is looked for (robfig/cron: SpecSchedule.Next gives up after five years).
inline constexpr int years_ahead = 5;

// The clock is looked at this often while a start is awaited: it may be set forward.
inline constexpr std::int64_t longest_wait_seconds = 600;

// Starts that are gone through for the newest one that was missed; so many of an irregular schedule
// cannot lie between its estimate and the present.
inline constexpr int most_steps = 1'000;

}  // namespace troupe::actors::cron_jobs::defaults
