// Which pods a pod of higher priority evicts.
#include <catch2/catch.hpp>
#include <random>

#include "actors/scheduler/algorithm.hpp"
#include "builders.hpp"

namespace troupe::actors::scheduler {

namespace {

// Places a pod of priority 50 with this spec and the label app=db beside bound pods of priority 1
// with the same label; nodes are in the zone of their name's first letter. Returns the victims.
std::vector<std::string> victims_of(const std::string& spec,
                                    const std::vector<std::pair<std::string, std::string>>& bound,
                                    const std::vector<std::string>& nodes,
                                    const std::string& of_bound = {}) {
  const auto with = *profile::make(*built_in_profile("today"));
  algorithm chooser{*with};
  cluster_view view;
  std::mt19937_64 random{7};
  for (const auto& node : nodes)
    view.put_node(make_node(node, "{host: " + node + ", zone: " + node.substr(0, 1) + "}"));
  for (const auto& [name, node] : bound)
    view.put_pod(
        make_pod(name, "{nodeName: " + node + ", priority: 1" + of_bound + "}", "{app: db}"), node);
  const auto found =
      chooser.schedule(make_pod("high", "{priority: 50" + spec + "}", "{app: db}"), view, random);
  REQUIRE_FALSE(found);
  std::vector<std::string> names;
  for (const auto& victim : found.error().make_room.victims)
    names.push_back(victim->pod->meta().name());
  return names;
}

using names = std::vector<std::string>;

}  // namespace

TEST_CASE("a pod preempts those from which anti-affinity keeps it away", "[scheduler]") {
  const std::string apart =
      ", affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
      "[{labelSelector: {matchLabels: {app: db}}, topologyKey: host}]}}";
  CHECK(victims_of(apart, {{"low", "a"}}, {"a"}) == names{"low"});
  CHECK(victims_of("", {{"low", "a"}}, {"a"}, apart) == names{"low"});
  INFO("the pods of another node in its zone are not evicted for it");
  const std::string zones =
      ", affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
      "[{labelSelector: {matchLabels: {app: db}}, topologyKey: zone}]}}";
  CHECK(victims_of(zones, {{"low", "a1"}, {"other", "a2"}}, {"a1", "a2"}) == names{});
}

TEST_CASE("a pod preempts as many as its topology constraint needs", "[scheduler]") {
  const std::string spread =
      ", nodeSelector: {host: a}, topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, "
      "whenUnsatisfiable: DoNotSchedule, nodeAffinityPolicy: Ignore, "
      "labelSelector: {matchLabels: {app: db}}}]";
  CHECK(victims_of(spread, {{"one", "a"}, {"two", "a"}}, {"a", "b"}).size() == 2);
  CHECK(victims_of(spread, {{"one", "a"}, {"two", "a"}, {"else", "b"}}, {"a", "b"}).size() == 1);
}

}  // namespace troupe::actors::scheduler
