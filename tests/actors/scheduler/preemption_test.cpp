// Which pods a pod of higher priority evicts.
#include <catch2/catch.hpp>
#include <random>

#include "actors/scheduler/algorithm.hpp"
#include "api/schema/policy_budget.pb.h"
#include "builders.hpp"

namespace troupe::actors::scheduler {

namespace {

using bound_pods = std::vector<std::pair<std::string, std::string>>;  // name and node
using victim_names = std::vector<std::string>;

// Places a pod of priority 50 with this spec and the label app=db beside bound pods of priority 1
// with the same label and that of their name; nodes are in the zone of their name's first letter.
// No eviction of the pod `guarded` is allowed. Returns the victims.
victim_names victims_of(const std::string& spec, const bound_pods& bound,
                        const std::vector<std::string>& nodes, const std::string& of_bound = {},
                        const std::string& guarded = {}) {
  const auto with = *profile::make(*built_in_profile("today"));
  algorithm chooser{*with};
  cluster_view view;
  std::mt19937_64 random{7};
  for (const auto& node : nodes)
    view.put_node(make_node(node, "{host: " + node + ", zone: " + node.substr(0, 1) + "}"));
  for (const auto& [name, node] : bound)
    view.put_pod(make_pod(name, "{nodeName: " + node + ", priority: 1" + of_bound + "}",
                          "{app: db, name: " + name + "}"),
                 node);
  if (!guarded.empty())
    view.put_budget(parse<api::policy::v1::PodDisruptionBudget>(
        "metadata: {name: guard, namespace: a}\n"
        "spec: {minAvailable: 1, selector: {matchLabels: {name: " +
        guarded + "}}}\nstatus: {disruptionsAllowed: 0}\n"));
  const auto found =
      chooser.schedule(make_pod("high", "{priority: 50" + spec + "}", "{app: db}"), view, random);
  REQUIRE_FALSE(found);
  victim_names result;
  for (const auto& victim : found.error().make_room.victims)
    result.push_back(victim->pod->meta().name());
  return result;
}

const std::string keeps_apart =
    ", affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
    "[{labelSelector: {matchLabels: {app: db}}, topologyKey: host}]}}";
const std::string spreads_zones =
    ", nodeSelector: {host: a}, topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, "
    "whenUnsatisfiable: DoNotSchedule, nodeAffinityPolicy: Ignore, "
    "labelSelector: {matchLabels: {app: db}}}]";

}  // namespace

TEST_CASE("a pod preempts those from which anti-affinity keeps it away", "[scheduler]") {
  CHECK(victims_of(keeps_apart, {{"low", "a"}}, {"a"}) == victim_names{"low"});
  CHECK(victims_of("", {{"low", "a"}}, {"a"}, keeps_apart) == victim_names{"low"});
  INFO("the pods of another node in its zone are not evicted for it");
  const std::string zones =
      ", affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
      "[{labelSelector: {matchLabels: {app: db}}, topologyKey: zone}]}}";
  CHECK(victims_of(zones, {{"low", "a1"}, {"other", "a2"}}, {"a1", "a2"}) == victim_names{});
}

TEST_CASE("a pod preempts as many as its topology constraint needs", "[scheduler]") {
  CHECK(victims_of(spreads_zones, {{"one", "a"}, {"two", "a"}}, {"a", "b"}).size() == 2);
  CHECK(victims_of(spreads_zones, {{"one", "a"}, {"two", "a"}, {"else", "b"}}, {"a", "b"}).size() ==
        1);
}

TEST_CASE("preemption chooses the node where it violates no disruption budget", "[scheduler]") {
  const bound_pods pods{{"one", "a"}, {"two", "b"}};
  CHECK(victims_of(keeps_apart, pods, {"a", "b"}, {}, "one") == victim_names{"two"});
  CHECK(victims_of(keeps_apart, pods, {"a", "b"}, {}, "two") == victim_names{"one"});
  INFO("a budget does not prevent it");
  CHECK(victims_of(keeps_apart, {{"one", "a"}}, {"a"}, {}, "one") == victim_names{"one"});
}

TEST_CASE("preemption spares the pod that a disruption budget protects", "[scheduler]") {
  const bound_pods pods{{"one", "a"}, {"two", "a"}, {"else", "b"}};
  CHECK(victims_of(spreads_zones, pods, {"a", "b"}, {}, "one") == victim_names{"two"});
  CHECK(victims_of(spreads_zones, pods, {"a", "b"}, {}, "two") == victim_names{"one"});
}

TEST_CASE("preemption ignores budgets with an empty selector, and those for pods without labels",
          "[scheduler]") {
  const auto budgets = [](const std::string& selector, const std::string& labels) {
    cluster_view view;
    view.put_budget(parse<api::policy::v1::PodDisruptionBudget>(
        "metadata: {name: guard, namespace: a}\nspec: {minAvailable: 1" + selector + "}\n"));
    return view.budgets_of(*make_pod("p", "{}", labels)).size();
  };
  CHECK(budgets("", "{app: db}") == 0);
  CHECK(budgets(", selector: {}", "{app: db}") == 0);
  const std::string others =
      ", selector: {matchExpressions: [{key: app, operator: NotIn, values: [web]}]}";
  CHECK(budgets(others, "{app: db}") == 1);
  CHECK(budgets(others, "{}") == 0);
}

}  // namespace troupe::actors::scheduler
