// Jobs in a simulated cluster.
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <set>

#include "actors/controllers/jobs/job_plan.hpp"
#include "actors/controllers/jobs/jobs_fixture.hpp"
#include "actors/core/condition.hpp"
#include "api/schema/core_config.pb.h"
#include "api/schema/core_event.pb.h"
#include "support/seeds.hpp"

namespace troupe::test {

using api::batch::v1::Job;
using api::core::v1::ConfigMap;
using api::core::v1::Event;
using api::core::v1::Pod;
using std::chrono::minutes;
using std::chrono::seconds;

namespace {

using behavior = std::map<std::string, std::string>;

Job job(const cluster& c, const std::string& name = "work") {
  return c.get<Job>("default", name);
}

std::string reason_of(const Job& job, const std::string& type) {
  const auto* found = actors::find_condition(job.status().conditions(), type);
  return found != nullptr && found->status() == "True" ? found->reason() : "";
}

bool ended(const cluster& c, const std::string& name = "work") {
  return actors::jobs::is_finished(job(c, name));
}

std::map<std::string, int> events(const cluster& c) {
  std::map<std::string, int> told;
  for (const auto& each : c.list<Event>()) {
    const auto& event = each->as<Event>();
    told[event.reason()] += std::max(1, event.count());
  }
  return told;
}

std::size_t active_pods(const cluster& c) {
  std::size_t active = 0;
  for (const auto& pod : c.list<Pod>()) {
    const auto& phase = pod->as<Pod>().status().phase();
    active += phase != "Succeeded" && phase != "Failed" && !pod->meta().has_deletion_timestamp();
  }
  return active;
}

}  // namespace

TEST_CASE("a job runs its pods, counts them and is complete", "[jobs]") {
  cluster c{1};
  simulated_nodes nodes{c};
  c.create(job_named("work", 2, 5, {{"run-time", "5s"}}));
  REQUIRE(c.run_until([&] { return ended(c); }, minutes{5}));
  const auto done = job(c);
  CHECK(reason_of(done, "Complete") == "CompletionsReached");
  CHECK(reason_of(done, "SuccessCriteriaMet") == "CompletionsReached");
  CHECK(done.status().succeeded() == 5);
  CHECK(done.status().active() == 0);
  CHECK(done.status().has_completion_time());
  c.settle();
  CHECK(events(c)["SuccessfulCreate"] == 5);
  CHECK(events(c)["Completed"] == 1);
  for (const auto& pod : c.list<Pod>())
    CHECK(pod->meta().finalizers().empty());
}

TEST_CASE("each pod of an indexed job knows its index", "[jobs]") {
  cluster c{1};
  simulated_nodes nodes{c};
  auto indexed = job_named("work", 3, 3, {{"run-time", "5s"}});
  indexed.mutable_spec()->set_completion_mode("Indexed");
  c.create(indexed);
  REQUIRE(c.run_until([&] { return ended(c); }, minutes{5}));
  CHECK(job(c).status().completed_indexes() == "0-2");
  std::set<std::string> hosts;
  for (const auto& each : c.list<Pod>()) {
    const auto& pod = each->as<Pod>();
    hosts.insert(pod.spec().hostname());
    const auto& index = pod.metadata().labels().at("batch.kubernetes.io/job-completion-index");
    CHECK(pod.metadata().name().starts_with("work-" + index + "-"));
    CHECK(pod.spec().containers(0).env(0).name() == "JOB_COMPLETION_INDEX");
  }
  CHECK(hosts == std::set<std::string>{"work-0", "work-1", "work-2"});
}

TEST_CASE("a job that keeps failing is tried again more and more slowly, then fails", "[jobs]") {
  cluster c{1};
  simulated_nodes nodes{c};
  auto failing = job_named("work", 1, 1, {{"run-time", "0s"}, {"exit-code", "1"}});
  failing.mutable_spec()->set_backoff_limit(2);
  const auto began = c.now();
  c.create(failing);
  REQUIRE(c.run_until([&] { return ended(c); }, minutes{5}));
  CHECK(reason_of(job(c), "Failed") == "BackoffLimitExceeded");
  CHECK(job(c).status().failed() == 3);
  CHECK(c.now() - began >= seconds{28});
  c.settle();
  CHECK(events(c)["BackoffLimitExceeded"] == 1);
}

TEST_CASE("a suspended job has no pods, and goes on when it is resumed", "[jobs]") {
  cluster c{1};
  simulated_nodes nodes{c};
  c.create(job_named("work", 2, 2, {{"run-time", "60s"}}));
  REQUIRE(c.run_until([&] { return active_pods(c) == 2; }));
  const auto suspend = [&](bool on) {
    c.change<Job>("default", "work", [&](Job& j) { j.mutable_spec()->set_suspend(on); });
  };
  suspend(true);
  REQUIRE(c.run_until([&] { return c.count<Pod>() == 0; }));
  REQUIRE(c.run_until([&] { return reason_of(job(c), "Suspended") == "JobSuspended"; }));
  suspend(false);
  REQUIRE(c.run_until([&] { return ended(c); }, minutes{5}));
  CHECK(job(c).status().succeeded() == 2);
  CHECK(job(c).status().failed() == 0);
  c.settle();
  CHECK(events(c)["Suspended"] == 1);
  CHECK(events(c)["Resumed"] == 1);
}

TEST_CASE("a job that takes too long is ended with its pods", "[jobs]") {
  cluster c{1};
  simulated_nodes nodes{c};
  auto slow = job_named("work", 2, 2);
  slow.mutable_spec()->set_active_deadline_seconds(30);
  c.create(slow);
  REQUIRE(c.run_until([&] { return ended(c); }, minutes{5}));
  CHECK(reason_of(job(c), "Failed") == "DeadlineExceeded");
  CHECK(active_pods(c) == 0);
}

TEST_CASE("a job that has ended goes with its pods when its time to live is over", "[jobs]") {
  cluster c{1};
  simulated_nodes nodes{c};
  auto brief = job_named("work", 1, 1, {{"run-time", "1s"}});
  brief.mutable_spec()->set_ttl_seconds_after_finished(20);
  c.create(brief);
  REQUIRE(c.run_until([&] { return ended(c); }, minutes{5}));
  c.advance(seconds{10});
  CHECK(c.find<Job>("default", "work"));
  CHECK(c.run_until([&] { return !c.find<Job>("default", "work") && c.count<Pod>() == 0; },
                    minutes{2}));
}

TEST_CASE("the pods of a job that is deleted go, whatever finalizer they have", "[jobs]") {
  for (const char* policy : {"Background", "Foreground", "Orphan"}) {
    INFO(policy);
    cluster c{1};
    simulated_nodes nodes{c};
    c.create(job_named("work", 3, 3));
    REQUIRE(c.run_until([&] { return active_pods(c) == 3; }));
    c.remove<Job>("default", "work", -1, policy);
    const bool orphaned = std::string{policy} == "Orphan";
    REQUIRE(c.run_until([&] { return !c.find<Job>("default", "work"); }, minutes{2}));
    CHECK(c.run_until(
        [&] {
          for (const auto& pod : c.list<Pod>())
            if (!pod->meta().finalizers().empty()) return false;
          return c.count<Pod>() == (orphaned ? 3U : 0U);
        },
        minutes{2}));
  }
}

TEST_CASE("a pod that another kind of object controls keeps the finalizer of jobs", "[jobs]") {
  cluster c{1};
  ConfigMap crew;
  crew.mutable_metadata()->set_name("crew");
  const auto owner = c.create(crew);
  auto pod = pod_named("p");
  pod.mutable_metadata()->add_finalizers(actors::jobs::tracking_finalizer);
  auto& reference = *pod.mutable_metadata()->add_owner_references();
  reference.set_api_version("v1");
  reference.set_kind("ConfigMap");
  reference.set_name("crew");
  reference.set_uid(owner->meta().uid());
  reference.set_controller(true);
  c.create(pod);
  c.advance(minutes{1});
  CHECK(c.get<Pod>("default", "p").metadata().finalizers_size() == 1);
}

TEST_CASE("a job of another controller is left alone", "[jobs]") {
  cluster c{1};
  auto foreign = job_named("work", 1, 1);
  foreign.mutable_spec()->set_managed_by("example.com/queue");
  c.create(foreign);
  c.advance(seconds{30});
  CHECK(c.count<Pod>() == 0);
  CHECK_FALSE(job(c).status().has_start_time());
}

TEST_CASE("jobs under crashes and conflicts count every pod once and never run too many",
          "[jobs][seeds]") {
  for_each_seed(60, [](std::uint64_t seed) {
    cluster_options options;
    // Conflicts are real, with a remote store that others write to: a simulated minion relies on
    // the newer state that each of them brings.
    options.far = seed / 2 % 2 == 0;
    cluster c{seed, options};
    std::mt19937_64 random{seed};
    const auto pick = [&](int below) { return static_cast<int>(random() % below); };
    simulated_nodes nodes{c};
    const int parallelism = 1 + pick(4), completions = 1 + pick(8);
    auto work = job_named("work", parallelism, completions,
                          {{"run-time", "2s"}, {"jitter", "1"}, {"start-delay", "1s"}});
    if (seed % 2 == 0) work.mutable_spec()->set_completion_mode("Indexed");
    work.mutable_spec()->set_backoff_limit(1'000);
    c.create(work);
    c.simulation().faults({.crash = 0.004, .delay = 0.1, .may_crash = {}});
    for (int i = 0; i < 60; ++i) {
      for (auto steps = pick(80); steps > 0; --steps) {
        c.simulation().step();
        REQUIRE(active_pods(c) <= static_cast<std::size_t>(parallelism));
        REQUIRE(job(c).status().succeeded() <= completions);
      }
      if (pick(12) == 0 && c.count<Pod>() > 0) {
        const auto pods = c.list<Pod>();
        c.remove<Pod>("default", pods[random() % pods.size()]->meta().name());
      }
      c.advance(std::chrono::milliseconds{pick(2'000)});
    }
    c.simulation().faults({});
    const bool done = c.run_until([&] { return ended(c); }, minutes{240});
    for (const auto& pod : c.list<Pod>())
      UNSCOPED_INFO(pod->json());
    INFO(c.find<Job>("default", "work")->json());
    REQUIRE(done);
    CHECK(job(c).status().succeeded() == completions);
    CHECK(reason_of(job(c), "Complete") == "CompletionsReached");
    c.advance(seconds{60});
    CHECK(active_pods(c) == 0);
    for (const auto& pod : c.list<Pod>())
      CHECK(pod->meta().finalizers().empty());
  });
}

}  // namespace troupe::test
