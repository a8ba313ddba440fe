// The pods that a DaemonSet creates and deletes on its nodes.
#include "actors/controllers/daemon_sets/node_plan.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <map>

#include "api/scheme.hpp"

namespace troupe::actors::daemon_sets {

namespace {

using keys = std::vector<std::string>;

daemon_pod pod(const std::string& key, bool current, bool available = true) {
  return {.key = key, .current = current, .ready = available, .available = available};
}

daemon_node node(const std::string& name, std::vector<daemon_pod> pods) {
  return {name, {.runs = true, .keeps = true}, std::move(pods)};
}

constexpr daemon_rules in_place{.unavailable = 1, .surge = 0};
constexpr daemon_rules surging{.unavailable = 0, .surge = 1};

struct given_node {
  std::map<std::string, std::string> labels = {};
  std::vector<std::array<std::string, 2>> taints = {};  // key, effect
};

node_fit fit_of(const DaemonSet& set, const given_node& given) {
  auto made = std::make_unique<api::core::v1::Node>();
  made->mutable_metadata()->set_name("n1");
  for (const auto& [key, value] : given.labels)
    (*made->mutable_metadata()->mutable_labels())[key] = value;
  for (const auto& [key, effect] : given.taints) {
    auto& taint = *made->mutable_spec()->add_taints();
    taint.set_key(key);
    taint.set_effect(effect);
  }
  const auto model = scheduler::read_pod_info(
      std::make_shared<api::object>(api::kind_of<api::core::v1::Pod>(), make_pod(set, "h"), 0));
  return fit(*model, api::object{api::kind_of<api::core::v1::Node>(), std::move(made), 1});
}

}  // namespace

TEST_CASE("nodes are selected by selector and taints, and unhealthy nodes stay", "[daemonsets]") {
  DaemonSet set;
  set.mutable_metadata()->set_name("agent");
  CHECK(fit_of(set, {}).runs);
  for (const auto* taint : {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"})
    CHECK(fit_of(set, {.taints = {{taint, "NoExecute"}}}).runs);
  for (const auto* taint : {"node.kubernetes.io/unschedulable", "node.kubernetes.io/disk-pressure"})
    CHECK(fit_of(set, {.taints = {{taint, "NoSchedule"}}}).runs);
  CHECK(fit_of(set, {.taints = {{"mine", "PreferNoSchedule"}}}).runs);

  const auto closed = fit_of(set, {.taints = {{"mine", "NoSchedule"}}});
  CHECK_FALSE(closed.runs);
  CHECK(closed.keeps);
  CHECK_FALSE(fit_of(set, {.taints = {{"mine", "NoExecute"}}}).keeps);

  // The network is not ready yet: only daemons that tolerate it may run.
  const given_node no_network{.taints = {{"node.kubernetes.io/network-unavailable", "NoSchedule"}}};
  CHECK_FALSE(fit_of(set, no_network).runs);
  set.mutable_spec()->mutable_template_()->mutable_spec()->set_host_network(true);
  CHECK(fit_of(set, no_network).runs);

  (*set.mutable_spec()->mutable_template_()->mutable_spec()->mutable_node_selector())["disk"] =
      "ssd";
  CHECK_FALSE(fit_of(set, {}).keeps);
  CHECK(fit_of(set, {.labels = {{"disk", "ssd"}}}).runs);
}

TEST_CASE("a pod of a daemon set is tied to its node and to no other", "[daemonsets]") {
  DaemonSet set;
  auto tied = make_pod(set, "h");
  CHECK(node_of(*tied).empty());
  require_node(*tied, "n1");
  CHECK(node_of(*tied) == "n1");
  const auto info = scheduler::read_pod_info(
      std::make_shared<api::object>(api::kind_of<api::core::v1::Pod>(), std::move(tied), 0));
  CHECK(info->selects("n1", {}));
  CHECK_FALSE(info->selects("n2", {}));
}

TEST_CASE("a node gets one pod, and keeps the oldest of several", "[daemonsets]") {
  CHECK(plan_node(node("n", {}), in_place).create);
  CHECK_FALSE(plan_node(node("n", {pod("a", true)}), in_place).create);
  CHECK(plan_node(node("n", {pod("a", true), pod("b", true)}), in_place).remove == keys{"b"});

  auto leaving = node("n", {pod("a", true)});
  leaving.pods[0].terminating = true;
  CHECK_FALSE(plan_node(leaving, in_place).create);

  auto ended = node("n", {pod("a", true, false)});
  ended.pods[0].failed = true;
  CHECK(plan_node(ended, in_place).ended == keys{"a"});

  auto closed = node("n", {pod("a", true)});
  closed.fit.runs = false;
  CHECK(plan_node(closed, in_place).remove.empty());
  closed.fit.keeps = false;
  CHECK(plan_node(closed, in_place).remove == keys{"a"});
}

TEST_CASE("an update in place deletes as many available pods as maxUnavailable allows",
          "[daemonsets]") {
  std::vector<daemon_node> nodes{node("1", {pod("a", false)}), node("2", {pod("b", false)}),
                                 node("3", {pod("c", false, false)}), node("4", {pod("d", true)})};
  CHECK(plan_rolling(nodes, in_place).remove == keys{"c", "a"});
  CHECK(plan_rolling(nodes, {.unavailable = 2}).remove == keys{"c", "a", "b"});
  nodes[3].pods[0].available = false;
  CHECK(plan_rolling(nodes, in_place).remove == keys{"c"});
  CHECK(plan_rolling(nodes, {.rolling = false, .unavailable = 2}).remove.empty());
}

TEST_CASE("a surge makes the new pod first and removes the old one when it is available",
          "[daemonsets]") {
  std::vector<daemon_node> nodes{node("1", {pod("a", false)}), node("2", {pod("b", false)})};
  CHECK(plan_rolling(nodes, surging).create == keys{"1"});
  nodes[0].pods.push_back(pod("x", true, false));
  CHECK(plan_node(nodes[0], surging).remove.empty());
  CHECK(plan_rolling(nodes, surging).create.empty());
  nodes[0].pods[1].ready = nodes[0].pods[1].available = true;
  CHECK(plan_node(nodes[0], surging).remove == keys{"a"});
  CHECK(plan_rolling(nodes, surging).create == keys{"2"});
  // An old pod that is not ready need not be kept.
  CHECK(plan_node(node("3", {pod("a", false, false), pod("y", true, false)}), surging).remove ==
        keys{"a"});
}

TEST_CASE("nodes are counted for the status", "[daemonsets]") {
  auto closed = node("5", {pod("e", true)});
  closed.fit.runs = false;
  const auto counts = count_nodes({node("1", {pod("a", true)}), node("2", {pod("b", false)}),
                                   node("3", {pod("c", true, false)}), node("4", {}), closed});
  CHECK(counts.desired == 4);
  CHECK(counts.current == 3);
  CHECK(counts.misscheduled == 1);
  CHECK(counts.ready == 2);
  CHECK(counts.available == 2);
  CHECK(counts.updated == 2);
}

}  // namespace troupe::actors::daemon_sets
