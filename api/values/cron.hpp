// Cron schedules: five fields such as "*/5 9-17 * * mon-fri", a name such as "@hourly",
// or "@every 90m". The syntax is that of upstream's library (robfig/cron,
// ParseStandard).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "api/values/syntax.hpp"

namespace troupe::api {

// A bit for each matching value: minutes 0 to 59, hours 0 to 23, days 1 to 31, months 1 to 12,
// weekdays 0 (Sunday) to 6.
struct cron_schedule {
  std::uint64_t minutes = 0, hours = 0, days = 0, months = 0, weekdays = 0;
  // The field began with "*". If neither did, a day needs to match only one of the two.
  bool any_day = false, any_weekday = false;
  std::int64_t every_seconds = 0;  // if not 0: a fixed interval, and the other fields are unused
};
// The error describes the problem.
tl::expected<cron_schedule, std::string> parse_schedule(std::string_view s);

// The problem with a schedule; empty if it is valid.
error_messages check_schedule(std::string_view s);

}  // namespace troupe::api
