// Limits that keep a controller from creating more pods than the scheduler can place or the cluster
// may hold.
#include <catch2/catch.hpp>

#include "actors/controllers/replication/defaults.hpp"
#include "actors/core/condition.hpp"
#include "api/schema/coordination_v1.pb.h"
#include "api/schema/core_config.pb.h"
#include "api/schema/core_event.pb.h"
#include "runtime/actor.hpp"
#include "support/nodes.hpp"
#include "support/workloads.hpp"

namespace troupe::test {

using api::apps::v1::Deployment;
using api::coordination::v1::Lease;
using api::core::v1::ConfigMap;
using api::core::v1::Event;
using api::core::v1::Node;
using api::core::v1::Pod;
using api::core::v1::ReplicationController;
using std::chrono::minutes;
using std::chrono::seconds;

namespace {

constexpr int most_replicas = 2'147'483'647;
constexpr auto waiting = actors::replication::defaults::waiting_pods;
const labels web = {{"app", "web"}};

void scale(cluster& c, const std::string& name, int replicas) {
  c.change<ReplicationController>("default", name, [&](ReplicationController& rc) {
    rc.mutable_spec()->set_replicas(replicas);
  });
}

std::size_t pods_of(const cluster& c, const std::string& name) {
  return active_pods(c, c.find<ReplicationController>("default", name)->meta().uid());
}

template <class T>
std::string failure(const cluster& c, const std::string& name) {
  const auto object = c.get<T>("default", name);
  const auto* found = actors::find_condition(object.status().conditions(), "ReplicaFailure");
  return found == nullptr ? std::string{} : found->reason() + ": " + found->message();
}

int times_told(const cluster& c, const std::string& reason) {
  int times = 0;
  for (const auto& each : c.list<Event>())
    if (each->as<Event>().reason() == reason) times += std::max(1, each->as<Event>().count());
  return times;
}

cluster_options with_capacity(actors::capacity_options capacity) {
  cluster_options options;
  options.plane.capacity = capacity;
  return options;
}

}  // namespace

TEST_CASE("a controller that asks for 2147483647 pods makes only some that wait for a node",
          "[replication][limits]") {
  cluster c{1};
  c.create(replication_controller("web", most_replicas, web));
  CHECK_FALSE(c.run_until([&] { return c.count<Pod>() > waiting; }, seconds{30}));
  CHECK(c.count<Pod>() == waiting);
  // No event at all if earlier events about pods used up the object's allowance.
  CHECK(times_told(c, "WaitingForNodes") <= 1);
  // The condition is not delayed.
  CHECK(failure<ReplicationController>(c, "web") ==
        "WaitingForNodes: 5000 pods wait for a node: more are created when some of them have one");
  // Other controllers go on, and so does this one once its replica count is reasonable.
  c.create(replication_controller("other", 3, {{"app", "other"}}));
  CHECK(c.run_until([&] { return pods_of(c, "other") == 3; }, seconds{5}));
  scale(c, "web", 3);
  CHECK(c.run_until([&] { return c.count<Pod>() == 6; }, seconds{10}));
  c.settle();
  CHECK(failure<ReplicationController>(c, "web").empty());
}

TEST_CASE("a controller that was killed still reports that its pods wait for nodes",
          "[replication][limits]") {
  cluster c{7};
  c.create(replication_controller("web", most_replicas, web));
  c.settle();
  REQUIRE(failure<ReplicationController>(c, "web").starts_with("WaitingForNodes: "));
  c.crash("replicationcontroller", "default/web");
  c.advance(seconds{10});
  CHECK(failure<ReplicationController>(c, "web").starts_with("WaitingForNodes: "));
  add_node(c, "n1");
  scale(c, "web", 4'000);
  c.advance(seconds{10});
  CHECK(failure<ReplicationController>(c, "web").empty());
}

TEST_CASE("a deployment reports that its pods wait for nodes", "[replication][limits]") {
  cluster c{8};
  c.create(deployment("web", 5'600, "example:1"));
  c.settle();
  CHECK(failure<Deployment>(c, "web").starts_with("WaitingForNodes: 5000 pods wait for a node"));
  add_node(c, "n1");
  CHECK(c.run_until([&] { return failure<Deployment>(c, "web").empty(); }, seconds{30}));
}

TEST_CASE("more pods are created as soon as nodes run the waiting ones", "[replication][limits]") {
  cluster c{2};
  c.create(replication_controller("web", 5'600, web));
  c.settle();
  CHECK(c.count<Pod>() == waiting);
  add_node(c, "n1");  // has room for 1,000
  CHECK(c.run_until([&] { return c.count<Pod>() == 5'600; }, seconds{30}));
  c.settle();
  CHECK(c.count<Pod>() == 5'600);
  CHECK(failure<ReplicationController>(c, "web").empty());
}

TEST_CASE("controllers report a full cluster, and continue when there is room",
          "[replication][limits]") {
  cluster c{3, with_capacity({.pods = 50})};
  add_node(c, "n1");
  c.create(replication_controller("first", 30, {{"app", "first"}}));
  c.settle();
  c.create(replication_controller("second", 40, {{"app", "second"}}));
  c.advance(minutes{1});
  CHECK(c.count<Pod>() == 50);
  CHECK(pods_of(c, "second") == 20);
  CHECK(failure<ReplicationController>(c, "first").empty());
  CHECK(failure<ReplicationController>(c, "second") ==
        "FailedCreate: pods \"second-\" is forbidden: exceeded quota: cluster, used: pods=50, "
        "limited: pods=50: delete what is not needed, add nodes, or raise the setting "
        "cluster.maxPods");
  // It retries, with growing pauses.
  const auto told = times_told(c, "FailedCreate");
  CHECK(told >= 3);
  c.advance(minutes{1});
  CHECK(times_told(c, "FailedCreate") - told <= 7);
  CHECK_FALSE(failure<ReplicationController>(c, "second").empty());

  scale(c, "first", 10);
  for (int i = 0; i < 15 && pods_of(c, "second") < 40; ++i) {
    run_kubelets(c);
    c.advance(seconds{1});
  }
  run_kubelets(c);
  c.advance(seconds{10});
  CHECK(pods_of(c, "first") == 10);
  CHECK(pods_of(c, "second") == 40);
  CHECK(c.count<Pod>() == 50);
  CHECK(failure<ReplicationController>(c, "second").empty());
}

TEST_CASE("a deployment reports a full cluster, too", "[replication][limits]") {
  cluster c{4, with_capacity({.pods = 10})};
  add_node(c, "n1");
  c.create(deployment("web", most_replicas, "example:1"));
  c.advance(minutes{1});
  CHECK(c.count<Pod>() == 10);
  CHECK(failure<Deployment>(c, "web").starts_with("FailedCreate: "));
  c.change<Deployment>("default", "web", [](Deployment& d) { d.mutable_spec()->set_replicas(3); });
  for (int i = 0; i < 10; ++i) {
    run_kubelets(c);
    c.advance(seconds{1});
  }
  CHECK(c.count<Pod>() == 3);
  CHECK(failure<Deployment>(c, "web").empty());
}

TEST_CASE("without a configured limit the capacity of the nodes limits the number of pods",
          "[replication][limits]") {
  actors::capacity cluster_capacity{{}};
  CHECK(cluster_capacity.pods() == 10'000);
  cluster_capacity.set_node_capacity(20'000);
  CHECK(cluster_capacity.pods() == 40'000);
  CHECK(actors::capacity{{.pods = 7}}.pods() == 7);

  cluster c{5};
  const auto limit = [&] {
    std::string text;
    c.simulation().system().request<runtime::description>(
        c.actor("node-capacity", "node-capacity"), runtime::describe{}, seconds{1},
        [&](const auto& answer) { text = answer ? (*answer)->text : "no answer"; });
    c.settle();
    return text;
  };
  for (int i = 0; i < 8; ++i)
    add_node(c, "n" + std::to_string(i));
  CHECK_THAT(limit(),
             Catch::Contains("nodesTakePods: 8000") && Catch::Contains("podsAtMost: 16000"));
  c.remove<Node>({}, "n0");
  c.settle();
  CHECK_THAT(limit(),
             Catch::Contains("nodesTakePods: 7000") && Catch::Contains("podsAtMost: 14000"));
  c.crash("node-capacity", "node-capacity");
  c.advance(seconds{5});
  CHECK_THAT(limit(),
             Catch::Contains("nodesTakePods: 7000") && Catch::Contains("podsAtMost: 14000"));
}

TEST_CASE("limits of objects and bytes do not refuse new nodes and updates",
          "[replication][limits]") {
  cluster_options options;
  const bool bytes = GENERATE(false, true);
  options.plane.controllers = false;
  options.plane.capacity =
      bytes ? actors::capacity_options{.bytes = 20'000} : actors::capacity_options{.objects = 40};
  cluster c{6, options};
  api::error refused;
  int made = 0;
  const auto config = [](int number) {
    auto content = std::make_unique<ConfigMap>();
    content->mutable_metadata()->set_name("c" + std::to_string(number));
    (*content->mutable_data())["a"] = std::string(400, 'x');
    return content;
  };
  for (; made < 100; ++made) {
    const auto result = c.try_create(config(made));
    if (result) continue;
    refused = result.error();
    break;
  }
  CHECK(made >= 30);
  CHECK(made < 40);
  CHECK(refused.code == 403);
  CHECK_THAT(refused.message, Catch::Contains("exceeded quota: cluster") &&
                                  Catch::Contains(bytes ? "cluster.maxBytes" : "maxObjects"));
  add_node(c, "n1");
  auto lease = std::make_unique<Lease>();
  lease->mutable_metadata()->set_name("n1");
  CHECK(c.try_create(std::move(lease)));
  c.change<ConfigMap>("default", "c1",
                      [](ConfigMap& m) { (*m.mutable_data())["a"] = std::string(500, 'y'); });
  c.remove<ConfigMap>("default", "c1");
  c.remove<ConfigMap>("default", "c2");
  c.remove<ConfigMap>("default", "c3");
  c.remove<ConfigMap>("default", "c4");
  CHECK(c.try_create(config(1)));
}

}  // namespace troupe::test
