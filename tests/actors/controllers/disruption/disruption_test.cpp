// PodDisruptionBudgets: their status, and the evictions that they allow.
#include <catch2/catch.hpp>
#include <limits>

#include "actors/controllers/disruption/budget_rules.hpp"
#include "actors/room_log.hpp"
#include "actors/write/admission_fixture.hpp"
#include "actors/write/eviction.hpp"
#include "actors/write/pipeline.hpp"
#include "api/schema/apps_v1.pb.h"
#include "api/schema/core_config.pb.h"
#include "api/schema/core_replication.pb.h"
#include "api/values/timestamp.hpp"

namespace troupe::test {

using actors::disruption::controller_scale;
using actors::disruption::plan_budget;
using api::core::v1::Pod;
using api::core::v1::ReplicationController;
using api::policy::v1::PodDisruptionBudget;
using namespace std::chrono_literals;

namespace {

constexpr std::int64_t now = 1'000'000;

api::object_ptr pod_named(const std::string& name, bool ready,
                          const std::string& phase = "Running") {
  auto pod = std::make_unique<Pod>(web_pod());
  pod->mutable_metadata()->set_name(name);
  (*pod->mutable_metadata()->mutable_labels())["app"] = "web";
  pod->mutable_status()->set_phase(phase);
  auto& condition = *pod->mutable_status()->add_conditions();
  condition.set_type("Ready");
  condition.set_status(ready ? "True" : "False");
  return std::make_shared<const api::object>(api::kind_of<Pod>(), std::move(pod), 1);
}

PodDisruptionBudget budget_of(const std::string& least, const std::string& most = {}) {
  PodDisruptionBudget budget;
  budget.mutable_metadata()->set_name("guard");
  budget.mutable_metadata()->set_namespace_("default");
  auto& spec = *budget.mutable_spec();
  (*spec.mutable_selector()->mutable_match_labels())["app"] = "web";
  auto& amount = least.empty() ? *spec.mutable_max_unavailable() : *spec.mutable_min_available();
  const auto& text = least.empty() ? most : least;
  if (text.ends_with('%')) {
    amount.set_type(1);
    amount.set_str_val(text);
  } else {
    amount.set_int_val(std::stoi(text));
  }
  return budget;
}

const auto four_replicas = [](const api::object&) {
  return std::optional<controller_scale>{controller_scale{"rc", 4}};
};

std::vector<api::object_ptr> some_pods(int ready, int others) {
  std::vector<api::object_ptr> pods;
  for (int i = 0; i < ready + others; ++i)
    pods.push_back(pod_named("p" + std::to_string(i), i < ready));
  return pods;
}

struct counts {
  int expected, desired, healthy, allowed;
  bool operator==(const counts&) const = default;
};

counts counted(const PodDisruptionBudget& budget, const std::vector<api::object_ptr>& pods) {
  const auto& status = plan_budget(budget, pods, four_replicas, now).status;
  return {status.expected_pods(), status.desired_healthy(), status.current_healthy(),
          status.disruptions_allowed()};
}

ReplicationController web_controller(int replicas) {
  ReplicationController rc;
  rc.mutable_metadata()->set_name("web");
  rc.mutable_spec()->set_replicas(replicas);
  (*rc.mutable_spec()->mutable_selector())["app"] = "web";
  auto& pods = *rc.mutable_spec()->mutable_template_();
  (*pods.mutable_metadata()->mutable_labels())["app"] = "web";
  *pods.mutable_spec() = web_pod().spec();
  return rc;
}

// Evicts a pod as the API does.
api::expected<void> evict(cluster& c, const std::string& pod) {
  const actors::admission::chain none{{}};
  std::mt19937_64 random{1};
  const auto state = c.store().read();
  auto proposed = actors::propose_eviction(
      state,
      {.pod_key = api::kind_of<Pod>().key("default", pod), .reason = "EvictionByEvictionAPI"},
      c.now());
  if (!proposed) return api::fail(proposed.error());
  actors::draft write{std::move(*proposed), actors::admission::controllers(), false, none};
  auto plan = actors::admit(write, {none, state, c.now(), random});
  if (!plan) return api::fail(plan.error());
  bool committed = false;
  c.store().submit(std::move(plan->transaction),
                   [&](const persistence::outcome& result) { committed = result.has_value(); });
  c.settle();
  REQUIRE(committed);
  return {};
}

// Three running pods, and a budget that requires two. Returns the pods when one may be evicted.
std::vector<std::string> start_guarded_pods(cluster& c) {
  c.create(web_controller(3));
  c.create(budget_of("2"));
  REQUIRE(c.run_until([&] { return c.count<Pod>("default") == 3; }));
  std::vector<std::string> names;
  for (const auto& pod : c.list<Pod>("default")) {
    names.push_back(pod->meta().name());
    c.change<Pod>("default", names.back(), [](Pod& changed) {
      changed.mutable_spec()->set_node_name("n1");
      changed.mutable_status()->set_phase("Running");
      auto& ready = *changed.mutable_status()->add_conditions();
      ready.set_type("Ready");
      ready.set_status("True");
    });
  }
  REQUIRE(c.run_until([&] {
    return c.get<PodDisruptionBudget>("default", "guard").status().disruptions_allowed() == 1;
  }));
  return names;
}

}  // namespace

TEST_CASE("controllers with two thousand million replicas each allow no more disruptions",
          "[disruption]") {
  const auto huge = [](const api::object& pod) {
    return std::optional<controller_scale>{
        controller_scale{pod.meta().name(), std::numeric_limits<std::int32_t>::max()}};
  };
  const auto status = plan_budget(budget_of({}, "1"), some_pods(2, 0), huge, now).status;
  CHECK(status.expected_pods() == std::numeric_limits<std::int32_t>::max());
  CHECK(status.disruptions_allowed() == 0);
}

TEST_CASE("a budget counts required and available pods", "[disruption]") {
  CHECK(counted(budget_of("2"), some_pods(3, 1)) == counts{4, 2, 3, 1});
  CHECK(counted(budget_of("50%"), some_pods(4, 0)) == counts{4, 2, 4, 2});
  CHECK(counted(budget_of("", "1"), some_pods(4, 0)) == counts{4, 3, 4, 1});
  CHECK(counted(budget_of("", "30%"), some_pods(4, 0)) == counts{4, 2, 4, 2});
  CHECK(counted(budget_of("", "1"), some_pods(2, 2)) == counts{4, 3, 2, 0});
  CHECK(counted(budget_of("0"), {}) == counts{0, 0, 0, 0});
  auto ended = some_pods(2, 0);
  ended.push_back(pod_named("done", true, "Succeeded"));
  CHECK(counted(budget_of("1"), ended) == counts{2, 1, 2, 1});
}

TEST_CASE("an allowed eviction counts until its time-out", "[disruption]") {
  auto budget = budget_of("1");
  (*budget.mutable_status()->mutable_disrupted_pods())["p0"].set_seconds(now - 10);
  (*budget.mutable_status()->mutable_disrupted_pods())["gone"].set_seconds(now - 10);
  auto plan = plan_budget(budget, some_pods(2, 0), four_replicas, now);
  CHECK(plan.status.disruptions_allowed() == 0);
  CHECK(plan.status.disrupted_pods_size() == 1);
  CHECK(plan.recheck_at == now + 110);

  plan = plan_budget(budget, some_pods(2, 0), four_replicas, now + 110);
  CHECK(plan.status.disruptions_allowed() == 1);
  CHECK(plan.status.disrupted_pods().empty());
  CHECK(plan.overdue == std::vector<std::string>{"p0"});
}

TEST_CASE("an eviction with a time in the year 9999 is looked at after the usual time",
          "[disruption]") {
  auto budget = budget_of("1");
  (*budget.mutable_status()->mutable_disrupted_pods())["p0"].set_seconds(api::last_second);
  CHECK(plan_budget(budget, some_pods(2, 0), four_replicas, now).recheck_at == now + 120);
}

TEST_CASE("evictions consume a budget, and are refused when it is exhausted", "[disruption]") {
  cluster c{3};
  const auto names = start_guarded_pods(c);
  REQUIRE(evict(c, names[0]));
  const auto refused = evict(c, names[1]);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == 429);
  CHECK(refused.error().message ==
        "Cannot evict pod as it would violate the pod's disruption budget.");
  REQUIRE(refused.error().causes.size() == 1);
  CHECK(refused.error().causes[0].reason == "DisruptionBudget");
  CHECK(refused.error().causes[0].message.starts_with(
      "The disruption budget guard needs 2 healthy pods and has"));
}

TEST_CASE("a budget logs when it begins or ceases to allow evictions, not at each sync",
          "[disruption]") {
  const room_log log;
  cluster c{3};
  const auto names = start_guarded_pods(c);
  c.change<Pod>("default", names[1], [](Pod& changed) {
    (*changed.mutable_metadata()->mutable_annotations())["a"] = "b";
  });
  c.advance(5s);
  const std::string guard =
      "info controllermanager /registry/poddisruptionbudgets/default/guard at revision ";
  CHECK(log.count(guard) == 1);
  CHECK(log.count(" allows 1 evictions: 3 of 3 pods are healthy, 2 are required") == 1);
  REQUIRE(evict(c, names[0]));
  c.advance(5s);
  CHECK(log.count(guard) == 2);
  CHECK(log.count(" allows 0 evictions: 2 of ") == 1);
}

TEST_CASE("pods that a budget cannot count are logged once", "[disruption]") {
  const room_log log;
  cluster c{3};
  c.create(budget_of("50%"));
  auto pod = web_pod();
  (*pod.mutable_metadata()->mutable_labels())["app"] = "web";
  c.create(pod);
  const std::string uncounted = " does not count 1 pods without a controller";
  REQUIRE(c.run_until([&] { return log.count(uncounted) == 1; }));
  c.change<Pod>("default", "web",
                [](Pod& changed) { changed.mutable_status()->set_phase("Running"); });
  c.advance(5s);
  CHECK(log.count(uncounted) == 1);
}

TEST_CASE("a pod of two budgets is not evicted, one that is not ready by the budget's policy",
          "[disruption]") {
  cluster c{3, without_controllers()};
  auto pod = web_pod();
  (*pod.mutable_metadata()->mutable_labels())["app"] = "web";
  c.create(pod);
  c.change<Pod>("default", "web",
                [](Pod& changed) { changed.mutable_status()->set_phase("Running"); });
  auto budget = budget_of("1");
  budget.mutable_spec()->set_unhealthy_pod_eviction_policy("AlwaysAllow");
  c.create(budget);
  auto second = budget_of("1");
  second.mutable_metadata()->set_name("second");
  c.create(second);
  const auto refused = evict(c, "web");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == 500);
  c.remove<PodDisruptionBudget>("default", "second");
  CHECK(evict(c, "web"));
}

TEST_CASE("pods count by the scale of their controller, also if an operator controls that",
          "[disruption]") {
  cluster c{3};
  api::core::v1::ConfigMap above;
  above.mutable_metadata()->set_name("operator");
  const auto made = c.create(above);
  auto rc = web_controller(3);
  auto& reference = *rc.mutable_metadata()->add_owner_references();
  reference.set_api_version("v1");
  reference.set_kind("ConfigMap");
  reference.set_name("operator");
  reference.set_uid(made->meta().uid());
  reference.set_controller(true);
  c.create(rc);
  c.create(budget_of("", "1"));
  CHECK(c.run_until([&] {
    return c.get<PodDisruptionBudget>("default", "guard").status().expected_pods() == 3;
  }));
}

}  // namespace troupe::test
