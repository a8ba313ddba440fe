// Cron jobs in a simulated cluster.
#include <catch2/catch.hpp>
#include <set>

#include "actors/controllers/cron_jobs/cron_plan.hpp"
#include "actors/controllers/jobs/jobs_fixture.hpp"
#include "actors/core/condition.hpp"
#include "api/schema/core_event.pb.h"
#include "support/seeds.hpp"

namespace troupe::test {

using api::batch::v1::CronJob;
using api::batch::v1::Job;
using api::core::v1::Event;
using std::chrono::minutes;
using std::chrono::seconds;

namespace {

CronJob cron_job(const std::string& policy, const std::string& run_time) {
  CronJob made;
  made.mutable_metadata()->set_name("tick");
  made.mutable_metadata()->set_namespace_("default");
  auto& spec = *made.mutable_spec();
  spec.set_schedule("* * * * *");
  spec.set_time_zone("UTC");
  spec.set_concurrency_policy(policy);
  *spec.mutable_job_template()->mutable_spec() =
      job_named("x", 1, 1, {{"run-time", run_time}}).spec();
  return made;
}

CronJob tick(const cluster& c) {
  return c.get<CronJob>("default", "tick");
}

bool was_told(const cluster& c, const std::string& reason) {
  for (const auto& each : c.list<Event>())
    if (each->as<Event>().reason() == reason) return true;
  return false;
}

}  // namespace

TEST_CASE("a cron job makes a job each minute and keeps the history that it may", "[cron]") {
  cluster c{1};
  simulated_nodes nodes{c};
  c.create(cron_job("Allow", "1s"));
  c.advance(minutes{8});
  while (actors::seconds_of(c.now()) % 60 < 30)
    c.advance(seconds{5});
  CHECK(c.count<Job>() == 3);
  CHECK(tick(c).status().active_size() == 0);
  CHECK(tick(c).status().has_last_successful_time());
  CHECK(tick(c).status().last_schedule_time().seconds() % 60 == 0);
  CHECK(was_told(c, "SuccessfulCreate"));
  CHECK(was_told(c, "SawCompletedJob"));
  CHECK(was_told(c, "SuccessfulDelete"));
}

TEST_CASE("a cron job that forbids two jobs at a time waits for the first to end", "[cron]") {
  cluster c{1};
  simulated_nodes nodes{c};
  c.create(cron_job("Forbid", "150s"));
  std::size_t most = 0;
  for (int i = 0; i < 40; ++i) {
    c.advance(seconds{10});
    most = std::max<std::size_t>(most, tick(c).status().active_size());
  }
  CHECK(most == 1);
  CHECK(c.count<Job>() >= 2);
  CHECK(was_told(c, "JobAlreadyActive"));
}

TEST_CASE("a cron job that replaces jobs ends the one that runs", "[cron]") {
  cluster c{1};
  simulated_nodes nodes{c};
  c.create(cron_job("Replace", "1h"));
  c.advance(seconds{150});
  CHECK(c.count<Job>() == 1);
  CHECK(tick(c).status().active_size() == 1);
}

TEST_CASE("a suspended cron job makes nothing, and a start that is too late is left out",
          "[cron]") {
  cluster c{1};
  auto made = cron_job("Allow", "1s");
  made.mutable_spec()->set_suspend(true);
  made.mutable_spec()->set_schedule("0 * * * *");
  made.mutable_spec()->set_starting_deadline_seconds(120);
  c.create(made);
  c.advance(minutes{70});
  CHECK(c.count<Job>() == 0);
  while (actors::seconds_of(c.now()) % 3'600 < 600)
    c.advance(minutes{1});
  c.change<CronJob>("default", "tick", [](CronJob& j) { j.mutable_spec()->set_suspend(false); });
  c.advance(seconds{30});
  CHECK(c.count<Job>() == 0);
}

TEST_CASE("a cron job that is killed at any moment makes one job for each time", "[cron][seeds]") {
  for_each_seed(30, [](std::uint64_t seed) {
    cluster_options options;
    options.plane.conflict_chance = 0.05;
    cluster c{seed, options};
    auto made = cron_job("Allow", "1s");
    made.mutable_spec()->set_successful_jobs_history_limit(100);
    c.create(made);
    c.simulation().faults({.crash = 0.01, .delay = 0.1, .may_crash = {}});
    c.advance(minutes{5});
    c.simulation().faults({});
    c.advance(minutes{3});
    std::set<std::string> starts;
    for (const auto& job : c.list<Job>()) {
      const auto& at =
          job->meta().annotations().at("batch.kubernetes.io/cronjob-scheduled-timestamp");
      CHECK(starts.insert(at).second);
    }
    CHECK(starts.size() >= 3);
    CHECK(static_cast<std::size_t>(tick(c).status().active_size()) == c.count<Job>());
  });
}

}  // namespace troupe::test
