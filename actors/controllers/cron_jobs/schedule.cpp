#include "actors/controllers/cron_jobs/schedule.hpp"

#include <algorithm>

#include "actors/controllers/cron_jobs/defaults.hpp"

namespace troupe::actors::cron_jobs {

namespace {

bool has(std::uint64_t bits, int value) {
  return (bits >> value & 1) != 0;
}

bool fits_day(const api::cron_schedule& schedule, absl::CivilDay day) {
  const bool by_day = has(schedule.days, day.day());
  // absl's week starts on Monday.
  const auto weekday = (static_cast<int>(absl::GetWeekday(day)) + 1) % 7;
  const bool by_weekday = has(schedule.weekdays, weekday);
  return schedule.any_day || schedule.any_weekday ? by_day && by_weekday : by_day || by_weekday;
}

}  // namespace

std::optional<absl::TimeZone> find_zone(const std::string& name) {
  if (name.empty()) return absl::LocalTimeZone();
  absl::TimeZone zone;
  if (!absl::LoadTimeZone(name, &zone)) return std::nullopt;
  return zone;
}

std::optional<std::int64_t> next_start(const api::cron_schedule& schedule,
                                       const absl::TimeZone& zone, std::int64_t second) {
  if (schedule.every_seconds != 0) return second + schedule.every_seconds;
  auto at = absl::FromUnixSeconds(second + 1);
  // Rounds up to a whole minute: no zone in use has an offset with seconds.
  if (const auto part = zone.At(at).cs.second(); part != 0) at += absl::Seconds(60 - part);
  const auto last_year = zone.At(at).cs.year() + defaults::years_ahead;
  while (true) {
    const auto civil = zone.At(at).cs;
    if (civil.year() > last_year) return std::nullopt;
    if (!has(schedule.months, civil.month())) {
      at = absl::FromCivil(absl::CivilMonth(civil) + 1, zone);
    } else if (!fits_day(schedule, absl::CivilDay(civil))) {
      // Skips a repeated midnight: time must not go back.
      at = std::max(absl::FromCivil(absl::CivilDay(civil) + 1, zone), at + absl::Minutes(1));
    } else if (!has(schedule.hours, civil.hour())) {
      at += absl::Minutes(60 - civil.minute());
    } else if (!has(schedule.minutes, civil.minute())) {
      at += absl::Minutes(1);
    } else {
      return absl::ToUnixSeconds(at);
    }
  }
}

missed_starts starts_between(const api::cron_schedule& schedule, const absl::TimeZone& zone,
                             std::int64_t since, std::int64_t now) {
  const auto first = next_start(schedule, zone, since);
  if (!first || *first > now) return {};
  const auto second = next_start(schedule, zone, *first);
  if (!second || *second > now) return {first, 1};
  // As upstream, estimates the number from the first interval.
  const auto distance = std::max<std::int64_t>(*second - *first, 1);
  const auto count = (now - *first) / distance + 1;
  if (schedule.every_seconds != 0) return {*first + (count - 1) * distance, count};
  // The latest: bisects, because an irregular schedule may have thousands.
  auto latest = *first;
  for (auto end = now; latest < end;) {
    const auto middle = latest + (end - latest) / 2;
    const auto next = next_start(schedule, zone, middle);
    if (next && *next <= now)
      latest = *next;
    else
      end = middle;
  }
  return {latest, count};
}

}  // namespace troupe::actors::cron_jobs
