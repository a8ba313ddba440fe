// Start times of cron schedules.
#include "actors/controllers/cron_jobs/schedule.hpp"

#include <catch2/catch.hpp>
#include <limits>

#include "actors/controllers/cron_jobs/cron_plan.hpp"

namespace troupe::test {

using namespace actors::cron_jobs;

namespace {

std::string next(const std::string& schedule, const std::string& after,
                 const std::string& zone = "UTC") {
  absl::Time from;
  std::string problem;
  REQUIRE(absl::ParseTime(absl::RFC3339_full, after, &from, &problem));
  const auto parsed = api::parse_schedule(schedule);
  REQUIRE(parsed);
  const auto in = find_zone(zone);
  REQUIRE(in);
  const auto at = next_start(*parsed, *in, absl::ToUnixSeconds(from));
  return at ? absl::FormatTime("%E4Y-%m-%dT%H:%M:%S%Ez", absl::FromUnixSeconds(*at), *in) : "never";
}

}  // namespace

TEST_CASE("a schedule fires at the next minute that fits all its fields", "[cron]") {
  CHECK(next("* * * * *", "2026-01-01T10:00:00Z") == "2026-01-01T10:01:00+00:00");
  CHECK(next("*/15 * * * *", "2026-01-01T10:45:00Z") == "2026-01-01T11:00:00+00:00");
  CHECK(next("30 4 1,15 * *", "2026-01-02T00:00:00Z") == "2026-01-15T04:30:00+00:00");
  CHECK(next("0 0 29 feb *", "2026-01-01T00:00:00Z") == "2028-02-29T00:00:00+00:00");
  CHECK(next("0 9 * * mon-fri", "2026-01-02T10:00:00Z") == "2026-01-05T09:00:00+00:00");
  CHECK(next("@hourly", "2026-01-01T10:00:01Z") == "2026-01-01T11:00:00+00:00");
  CHECK(next("@every 90s", "2026-01-01T10:00:00Z") == "2026-01-01T10:01:30+00:00");
  CHECK(next("0 0 31 2 *", "2026-01-01T00:00:00Z") == "never");
}

TEST_CASE("where both day fields name days, either is enough", "[cron]") {
  CHECK(next("0 0 13 * fri", "2026-01-01T00:00:00Z") == "2026-01-02T00:00:00+00:00");
  CHECK(next("0 0 13 * *", "2026-01-01T00:00:00Z") == "2026-01-13T00:00:00+00:00");
}

TEST_CASE("a schedule follows the clock of its time zone", "[cron]") {
  CHECK(next("0 9 * * *", "2026-06-01T00:00:00Z", "Asia/Tokyo") == "2026-06-02T09:00:00+09:00");
  INFO("02:30 does not exist in Berlin on 29 March 2026, and exists twice on 25 October");
  CHECK(next("30 2 * * *", "2026-03-29T00:00:00Z", "Europe/Berlin") == "2026-03-30T02:30:00+02:00");
  CHECK(next("30 2 25 10 *", "2026-10-24T00:00:00Z", "Europe/Berlin") ==
        "2026-10-25T02:30:00+02:00");
  CHECK(next("30 2 25 10 *", "2026-10-25T00:30:00Z", "Europe/Berlin") ==
        "2026-10-25T02:30:00+01:00");
  CHECK_FALSE(find_zone("Europe/Nowhere"));
}

TEST_CASE("of missed starts the newest is used, and all are counted", "[cron]") {
  const auto hourly = api::parse_schedule("0 * * * *").value();
  const auto missed = starts_between(hourly, absl::UTCTimeZone(), 0, 3'600 * 200 + 5);
  CHECK(missed.count == 200);
  CHECK(missed.latest == 3'600 * 200);
  CHECK_FALSE(starts_between(hourly, absl::UTCTimeZone(), 3'600, 3'700).latest);
  const auto weekdays = api::parse_schedule("0 9 * * mon-fri").value();
  // From Thursday, 1 January 1970 to the Sunday that follows.
  CHECK(starts_between(weekdays, absl::UTCTimeZone(), 0, 86'400 * 4 - 1).latest ==
        86'400 + 9 * 3'600);
}

TEST_CASE("of a day with a start each minute the newest start is used", "[cron]") {
  const auto first_day = api::parse_schedule("* * 1 * *").value();
  const auto february = 31 * 86'400;  // from 1 January 1970, 23:58
  CHECK(starts_between(first_day, absl::UTCTimeZone(), 86'280, february + 86'290).latest ==
        february + 86'280);
  const auto regular = api::parse_schedule("@every 7s").value();
  CHECK(starts_between(regular, absl::UTCTimeZone(), 0, 100'000).latest == 99'995);
}

TEST_CASE("a start within a deadline of 292 billion years is not missed", "[cron]") {
  api::batch::v1::CronJob cron_job;
  cron_job.mutable_spec()->set_schedule("0 * * * *");
  cron_job.mutable_spec()->set_time_zone("UTC");
  cron_job.mutable_spec()->set_starting_deadline_seconds(std::numeric_limits<std::int64_t>::max());
  CHECK(make_plan(cron_job, {}, 7'205).start == 7'200);
}

}  // namespace troupe::test
