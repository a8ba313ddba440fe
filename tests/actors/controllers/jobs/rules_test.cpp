// The pure rules of the job controller.
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <set>

#include "actors/controllers/jobs/failure_policy.hpp"
#include "actors/controllers/jobs/indexes.hpp"
#include "actors/controllers/jobs/job_plan.hpp"
#include "actors/controllers/jobs/success_policy.hpp"
#include "actors/core/condition.hpp"
#include "api/scheme.hpp"
#include "support/seeds.hpp"

namespace troupe::test {

using namespace actors::jobs;
using api::batch::v1::Job;
using api::core::v1::Pod;

namespace {

constexpr std::int64_t now = 1'000'000;

Job job_of(int parallelism, int completions) {
  Job job;
  job.mutable_metadata()->set_name("work");
  job.mutable_metadata()->set_uid("u");
  auto& spec = *job.mutable_spec();
  spec.set_parallelism(parallelism);
  spec.set_completions(completions);
  spec.set_backoff_limit(6);
  spec.set_completion_mode("NonIndexed");
  spec.set_pod_replacement_policy("TerminatingOrFailed");
  spec.mutable_template_()->mutable_spec()->set_restart_policy("Never");
  return job;
}

job_pod pod_of(const Job& job, const std::string& name, const std::string& phase, int index = -1,
               int exit_code = 0) {
  auto pod = std::make_unique<Pod>();
  auto& meta = *pod->mutable_metadata();
  meta.set_name(name);
  meta.set_namespace_("default");
  meta.set_uid(name);
  meta.add_finalizers(tracking_finalizer);
  if (index >= 0) (*meta.mutable_annotations())[index_annotation] = std::to_string(index);
  auto& status = *pod->mutable_status();
  status.set_phase(phase);
  auto& container = *status.add_container_statuses();
  container.set_name("main");
  if (phase == "Failed" || phase == "Succeeded") {
    auto& ended = *container.mutable_state()->mutable_terminated();
    ended.set_exit_code(exit_code);
    ended.mutable_finished_at()->set_seconds(now);
  }
  return read_pod(std::make_shared<const api::object>(api::kind_of<Pod>(), std::move(pod), 1),
                  job.spec());
}

std::string reason_of(const job_plan& plan, const std::string& type) {
  const auto* found = actors::find_condition(plan.status.conditions(), type);
  return found != nullptr && found->status() == "True" ? found->reason() : "";
}

}  // namespace

TEST_CASE("index sets read and write the form of completedIndexes", "[jobs]") {
  CHECK(index_set::parse("1,3-5,7", 10).str() == "1,3-5,7");
  CHECK(index_set::parse("1,2", 10).str() == "1,2");
  CHECK(index_set::parse("3-9", 6).str() == "3-5");
  CHECK(index_set::parse("x,5-2,-1,4", 10).str() == "4");
  CHECK(index_set::parse("7,2-5,1,4-6", 10).str() == "1-7");
  CHECK(index_set::parse("", 10).empty());
}

TEST_CASE("an index set contains the indexes that were added, in any order", "[jobs]") {
  for_each_seed(200, [](std::uint64_t seed) {
    std::mt19937_64 random{seed};
    index_set all;
    std::set<std::int32_t> model;
    for (int i = 0; i < 60; ++i) {
      const auto index = static_cast<std::int32_t>(random() % 50);
      all.insert(index);
      model.insert(index);
    }
    REQUIRE(all.size() == std::ssize(model));
    for (int i = 0; i < 50; ++i)
      REQUIRE(all.contains(i) == model.contains(i));
    REQUIRE(index_set::parse(all.str(), 50).str() == all.str());
  });
}

TEST_CASE("the first rule of a failure policy that fits counts", "[jobs]") {
  auto job = job_of(1, 1);
  auto& rules = *job.mutable_spec()->mutable_pod_failure_policy()->mutable_rules();
  auto& ignore = *rules.Add();
  ignore.set_action("Ignore");
  auto& pattern = *ignore.add_on_pod_conditions();
  pattern.set_type("DisruptionTarget");
  pattern.set_status("True");
  auto& fail = *rules.Add();
  fail.set_action("FailJob");
  fail.mutable_on_exit_codes()->set_operator_("In");
  fail.mutable_on_exit_codes()->add_values(42);
  CHECK(evaluate_failure(job.spec(), pod_of(job, "p", "Failed", -1, 1).body()).action ==
        failure_action::count);
  const auto verdict = evaluate_failure(job.spec(), pod_of(job, "p", "Failed", -1, 42).body());
  CHECK(verdict.action == failure_action::fail_job);
  CHECK(verdict.message ==
        "Container main for pod default/p failed with exit code 42 matching FailJob rule at "
        "index 1");
  auto disrupted = pod_of(job, "p", "Failed", -1, 42).body();
  actors::set_condition(*disrupted.mutable_status()->mutable_conditions(),
                        {"DisruptionTarget", "True"}, {});
  CHECK(evaluate_failure(job.spec(), disrupted).action == failure_action::ignore);
}

TEST_CASE("a success policy is met by the indexes that it names, or by a number of them",
          "[jobs]") {
  auto job = job_of(5, 10);
  job.mutable_spec()->set_completion_mode("Indexed");
  auto& rule = *job.mutable_spec()->mutable_success_policy()->add_rules();
  rule.set_succeeded_indexes("1-3");
  CHECK_FALSE(met_success_rule(job.spec(), index_set::parse("1,2", 10)));
  CHECK(met_success_rule(job.spec(), index_set::parse("0-3", 10)) == "Matched rules at index 0");
  rule.set_succeeded_count(2);
  CHECK(met_success_rule(job.spec(), index_set::parse("1,2,9", 10)));
  CHECK_FALSE(met_success_rule(job.spec(), index_set::parse("1,8,9", 10)));
}

TEST_CASE("failures delay the next pod by 10 s, doubling up to 10 min", "[jobs]") {
  CHECK(backoff_ends_at(0, now) <= now);
  CHECK(backoff_ends_at(1, now) == now + 10);
  CHECK(backoff_ends_at(3, now) == now + 40);
  CHECK(backoff_ends_at(100, now) == now + 600);
}

TEST_CASE("a job makes no more pods than run at a time, nor than are still needed", "[jobs]") {
  const auto job = job_of(3, 5);
  CHECK(make_plan(job, {}, {}, now).create.size() == 3);
  const std::vector<job_pod> some{pod_of(job, "a", "Running"), pod_of(job, "b", "Succeeded"),
                                  pod_of(job, "c", "Succeeded"), pod_of(job, "d", "Succeeded")};
  const auto plan = make_plan(job, some, {}, now);
  CHECK(plan.create.size() == 1);
  CHECK(plan.status.succeeded() == 3);
  CHECK(plan.release.size() == 3);
}

TEST_CASE("a job that has failed too often names its limit, and ends when no pod is left",
          "[jobs]") {
  auto job = job_of(2, 2);
  job.mutable_spec()->set_backoff_limit(0);
  const auto first =
      make_plan(job, {pod_of(job, "a", "Failed", -1, 1), pod_of(job, "b", "Running")}, {}, now);
  CHECK(reason_of(first, "FailureTarget") == "BackoffLimitExceeded");
  CHECK(reason_of(first, "Failed").empty());
  CHECK(first.remove.size() == 1);
  *job.mutable_status() = first.status;
  const auto second = make_plan(job, {pod_of(job, "b", "Failed", -1, 137)}, {}, now);
  CHECK(reason_of(second, "Failed") == "BackoffLimitExceeded");
  CHECK(second.status.failed() == 2);
}

TEST_CASE("an index that has failed too often fails alone, and the others go on", "[jobs]") {
  auto job = job_of(2, 3);
  auto& spec = *job.mutable_spec();
  spec.set_completion_mode("Indexed");
  spec.set_backoff_limit(std::numeric_limits<std::int32_t>::max());
  spec.set_backoff_limit_per_index(0);
  const auto plan =
      make_plan(job, {pod_of(job, "a", "Failed", 0, 1), pod_of(job, "b", "Running", 1)}, {}, now);
  CHECK(plan.status.failed_indexes() == "0");
  REQUIRE(plan.create.size() == 1);
  CHECK(plan.create[0].index == 2);
  *job.mutable_status() = plan.status;
  const auto end =
      make_plan(job, {pod_of(job, "b", "Succeeded", 1), pod_of(job, "c", "Succeeded", 2)}, {}, now);
  CHECK(reason_of(end, "Failed") == "FailedIndexes");
  CHECK(end.status.completed_indexes() == "1,2");
}

TEST_CASE("the next indexes of a job are found without a visit to each completed one", "[jobs]") {
  auto job = job_of(2, 2'000'000'000);
  job.mutable_spec()->set_completion_mode("Indexed");
  job.mutable_status()->set_completed_indexes("0-999999999,1000000001-1999999989");
  const auto plan = make_plan(job, {}, {}, now);
  REQUIRE(plan.create.size() == 2);
  CHECK(plan.create[0].index == 1'000'000'000);
  CHECK(plan.create[1].index == 1'999'999'990);
}

TEST_CASE("a pod that a former controller has noted as uncounted is counted once", "[jobs]") {
  auto job = job_of(1, 2);
  job.mutable_status()->mutable_uncounted_terminated_pods()->add_succeeded("a");
  const auto plan = make_plan(job, {pod_of(job, "a", "Succeeded")}, {}, now);
  CHECK(plan.status.succeeded() == 1);
  CHECK(plan.release.size() == 1);
}

TEST_CASE("plans respect parallelism and completions and count each pod once, for any pods",
          "[jobs][seeds]") {
  for_each_seed(300, [](std::uint64_t seed) {
    std::mt19937_64 random{seed};
    const auto pick = [&](int below) { return static_cast<int>(random() % below); };
    auto job = job_of(1 + pick(5), 1 + pick(12));
    const bool indexed = pick(2) == 0;
    if (indexed) job.mutable_spec()->set_completion_mode("Indexed");
    job.mutable_spec()->set_backoff_limit(1'000);
    std::map<std::string, job_pod> pods;
    int next = 0, ended = 0;
    auto time = now;
    for (int round = 0; round < 400 && !is_finished(job); ++round) {
      time += 1 + pick(700);
      std::vector<job_pod> list;
      for (const auto& [name, pod] : pods)
        list.push_back(pod);
      const auto plan = make_plan(job, list, {}, time);
      *job.mutable_status() = plan.status;
      for (const auto& pod : plan.release)
        pods.erase(pod->meta().name());
      for (const auto& pod : plan.remove)
        pods.erase(pod->meta().name());
      for (const auto& pod : plan.create) {
        const auto name = "p" + std::to_string(next++);
        pods.emplace(name, pod_of(job, name, "Running", pod.index));
      }
      std::set<int> indexes;
      for (const auto& [name, pod] : pods)
        if (indexed) REQUIRE(indexes.insert(pod.index).second);
      REQUIRE(std::ssize(pods) <= job.spec().parallelism());
      for (auto& [name, pod] : pods)
        if (pick(2) == 0) {
          ++ended;
          const bool fails = pick(3) == 0;
          pod = pod_of(job, name, fails ? "Failed" : "Succeeded", pod.index, fails);
        }
    }
    REQUIRE(is_finished(job));
    CHECK(job.status().succeeded() == job.spec().completions());
    CHECK(job.status().succeeded() + job.status().failed() == ended);
  });
}

TEST_CASE("a job with too many pods reports it in an event", "[jobs]") {
  const auto job = job_of(2, 1);
  const auto told = [](const job_plan& plan) {
    std::set<std::string> reasons;
    for (const auto& event : plan.events)
      reasons.insert(event.reason);
    return reasons;
  };
  const auto active =
      make_plan(job, {pod_of(job, "a", "Succeeded"), pod_of(job, "b", "Running")}, {}, now);
  CHECK(told(active) == std::set<std::string>{"TooManyActivePods"});
  const auto succeeded =
      make_plan(job, {pod_of(job, "a", "Succeeded"), pod_of(job, "b", "Succeeded")}, {}, now);
  CHECK(told(succeeded) == std::set<std::string>{"Completed", "TooManySucceededPods"});
}

TEST_CASE("the deadline of a job counts from its resumption", "[jobs]") {
  auto job = job_of(1, 1);
  job.mutable_spec()->set_active_deadline_seconds(60);
  job.mutable_spec()->set_suspend(true);
  job.mutable_status()->mutable_start_time()->set_seconds(now - 30);
  *job.mutable_status() = make_plan(job, {}, {}, now).status;
  job.mutable_spec()->set_suspend(false);
  const auto resumed = make_plan(job, {}, {}, now + 100);
  CHECK(reason_of(resumed, "FailureTarget").empty());
  CHECK(resumed.status.start_time().seconds() == now + 100);
  *job.mutable_status() = resumed.status;
  CHECK(make_plan(job, {}, {}, now + 159).create.size() == 1);
  CHECK(reason_of(make_plan(job, {}, {}, now + 160), "FailureTarget") == "DeadlineExceeded");
}

TEST_CASE("a job with a deadline in 292 billion years is not looked at before", "[jobs]") {
  auto job = job_of(1, 1);
  job.mutable_spec()->set_active_deadline_seconds(std::numeric_limits<std::int64_t>::max());
  job.mutable_status()->mutable_start_time()->set_seconds(now);
  const auto plan = make_plan(job, {pod_of(job, "a", "Running")}, {}, now + 1);
  CHECK(reason_of(plan, "FailureTarget").empty());
  CHECK(plan.next_sync.value_or(now + 2) > now + 1);
}

TEST_CASE("a failed pod of an index that the job no longer has is not counted", "[jobs]") {
  auto job = job_of(3, 3);
  job.mutable_spec()->set_completion_mode("Indexed");
  job.mutable_spec()->set_backoff_limit(0);
  const auto plan = make_plan(job, {pod_of(job, "a", "Failed", 3, 1)}, {}, now);
  CHECK(reason_of(plan, "FailureTarget").empty());
  CHECK(plan.status.failed() == 0);
  CHECK(plan.release.size() == 1);
}

}  // namespace troupe::test
