// The control plane's log of its decisions: results that an operator needs at the level info, each
// step at debug, with the object and its revision.
#include <catch2/catch.hpp>

#include "actors/room_log.hpp"
#include "api/schema/apps_sets.pb.h"
#include "api/schema/apps_v1.pb.h"
#include "api/schema/core_config.pb.h"
#include "api/schema/core_namespace.pb.h"
#include "api/schema/core_pod.pb.h"
#include "api/schema/core_service.pb.h"
#include "support/cluster.hpp"
#include "support/nodes.hpp"
#include "support/workloads.hpp"

namespace troupe::test {

using api::apps::v1::Deployment;
using api::apps::v1::StatefulSet;
using api::core::v1::ConfigMap;
using api::core::v1::Endpoints;
using api::core::v1::Namespace;
using api::core::v1::Node;
using api::core::v1::Pod;
using api::core::v1::ReplicationController;
using api::core::v1::Service;
using Catch::Matchers::Contains;
using std::chrono::seconds;

namespace {

ConfigMap map_named(const std::string& name) {
  ConfigMap map;
  map.mutable_metadata()->set_name(name);
  map.mutable_metadata()->set_namespace_("default");
  return map;
}

}  // namespace

TEST_CASE(
    "a bind is a step in the log, the first attempt without a node a result, each later one a "
    "step") {
  const room_log log;
  cluster c{1};
  add_node(c, "n1");
  c.create(pod_named("fits"));
  auto large = pod_named("large");
  (*large.mutable_spec()->mutable_node_selector())["no"] = "such";
  const auto made = c.create(large);
  c.settle();
  CHECK(c.get<Pod>("default", "fits").spec().node_name() == "n1");
  CHECK_THAT(log.text(),
             Contains("debug scheduler: /registry/pods/default/fits is bound to n1 at revision "));
  CHECK_THAT(log.text(), Contains("info scheduler: no node for /registry/pods/default/large at "
                                  "revision " +
                                  std::to_string(made->revision()) + ": "));
  // Past the time after which waiting pods are tried again without an event.
  c.advance(std::chrono::minutes{10});
  CHECK(log.count("info scheduler: no node for /registry/pods/default/large") == 1);
  CHECK(log.count("debug scheduler: no node for /registry/pods/default/large") > 0);
}

TEST_CASE("a silent node and its return are logged once each") {
  const room_log log;
  cluster c{1};
  add_node(c, "n1");
  add_node(c, "n2");
  renew_lease(c, "n2");
  keep_alive(c, {"n1"}, seconds{45});
  CHECK_THAT(log.text(), Contains("info node n2 at revision ") &&
                             Contains("has been silent for 40 s: it is not ready"));
  renew_lease(c, "n2");
  c.settle();
  CHECK_THAT(log.text(), Contains("sends heartbeats again"));
}

TEST_CASE(
    "objects that the garbage collector deletes, and the dependents it waits for, are in the log") {
  const room_log log;
  cluster c{1};
  const auto owner = c.create(map_named("owner"));
  auto dependent = map_named("dependent");
  auto& reference = *dependent.mutable_metadata()->add_owner_references();
  reference.set_api_version("v1");
  reference.set_kind("ConfigMap");
  reference.set_name("owner");
  reference.set_uid(owner->meta().uid());
  const auto made = c.create(dependent);
  c.settle();
  c.remove<ConfigMap>("default", "owner");
  c.settle();
  CHECK_THAT(log.text(),
             Contains("debug garbage: /registry/configmaps/default/dependent at revision " +
                      std::to_string(made->revision()) + " is deleted: no owner exists"));
}

TEST_CASE("a controller says once for each sync how it scales, and each pod is a step") {
  const room_log log;
  cluster c{1};
  const std::string web = "replication-controller /registry/replicationcontrollers/default/web";
  c.create(replication_controller("web", 3, {{"app", "web"}}));
  c.settle();
  CHECK(log.count("info " + web + " at revision ") == 1);
  CHECK_THAT(log.text(), Contains("scales up from 0 to 3 pods"));
  for (const auto& pod : c.list<Pod>())
    CHECK_THAT(log.text(), Contains("debug " + web + ": creates /registry/pods/default/" +
                                    pod->meta().name() + " at revision "));
  c.change<ReplicationController>("default", "web",
                                  [](auto& rc) { rc.mutable_spec()->set_replicas(1); });
  c.settle();
  CHECK(log.count("scales down from 3 to 1 pods") == 1);
  CHECK(log.count(": removes /registry/pods/default/web-") == 2);
}

TEST_CASE("a stateful set says which pods it creates and deletes") {
  const room_log log;
  cluster c{1};
  StatefulSet set;
  set.mutable_metadata()->set_name("db");
  set.mutable_metadata()->set_namespace_("default");
  set.mutable_spec()->set_replicas(1);
  set.mutable_spec()->set_service_name("db");
  (*set.mutable_spec()->mutable_selector()->mutable_match_labels())["app"] = "db";
  auto& pod = *set.mutable_spec()->mutable_template_();
  (*pod.mutable_metadata()->mutable_labels())["app"] = "db";
  *pod.mutable_spec() = pod_named("x").spec();
  c.create(set);
  c.advance(seconds{5});
  const std::string db =
      "info statefulset-controller /registry/statefulsets/default/db at revision ";
  CHECK(log.count(db) == 1);
  CHECK(log.count(" creates Pod db-0 in StatefulSet db") == 1);
  c.change<StatefulSet>("default", "db", [](auto& now) { now.mutable_spec()->set_replicas(0); });
  c.advance(seconds{5});
  CHECK(log.count(db) == 2);
  CHECK(log.count(" deletes Pod db-0 in StatefulSet db") == 1);
}

TEST_CASE("a controller says how many objects it adopts and releases, and which") {
  const room_log log;
  cluster c{1};
  auto orphan = pod_named("orphan");
  (*orphan.mutable_metadata()->mutable_labels())["app"] = "web";
  c.create(orphan);
  c.create(replication_controller("web", 1, {{"app", "web"}}));
  // The scheduler may have changed the pod in between: then the write is retried.
  c.advance(std::chrono::seconds{2});
  CHECK_THAT(log.text(), Contains("adopts 1 and releases 0 objects") &&
                             Contains("web: adopts /registry/pods/default/orphan at revision "));
  c.change<Pod>("default", "orphan",
                [](Pod& pod) { (*pod.mutable_metadata()->mutable_labels())["app"] = "other"; });
  c.advance(std::chrono::seconds{2});
  CHECK_THAT(log.text(), Contains("adopts 0 and releases 1 objects") &&
                             Contains("web: releases /registry/pods/default/orphan at revision "));
}

TEST_CASE("a Service logs that it adopts Endpoints made by hand, and that it releases them") {
  const room_log log;
  cluster c{1};
  Service service;
  service.mutable_metadata()->set_name("web");
  service.mutable_spec()->add_ports()->set_port(80);
  c.create(service);
  Endpoints by_hand;
  by_hand.mutable_metadata()->set_name("web");
  c.create(by_hand);
  c.change<Service>("default", "web",
                    [](Service& now) { (*now.mutable_spec()->mutable_selector())["app"] = "web"; });
  c.advance(seconds{5});
  CHECK(log.count(" adopts the Endpoints of its name") == 1);
  CHECK(log.count(" releases its Endpoints") == 0);
  c.change<Service>("default", "web", [](Service& now) { now.mutable_spec()->clear_selector(); });
  c.advance(seconds{5});
  CHECK(log.count(" adopts the Endpoints of its name") == 1);
  CHECK(log.count(" selects no pods any more: releases its Endpoints") == 1);
}

TEST_CASE("a rollout is in the log from its new replica set to its end") {
  const room_log log;
  cluster c{1};
  add_node(c, "n1");
  c.create(deployment("web", 1, "one"));
  for (int i = 0; i < 5; ++i) {
    c.settle();
    renew_lease(c, "n1");
    run_kubelets(c);
    c.advance(seconds{1});
  }
  const std::string web =
      "info deployment-controller /registry/deployments/default/web at revision ";
  CHECK(log.count(web) >= 2);
  CHECK_THAT(log.text(), Contains("NewReplicaSetCreated: Created new replica set \"web-"));
  CHECK_THAT(log.text(), Contains("NewReplicaSetAvailable: ReplicaSet \"web-"));
}

TEST_CASE("a write that a controller must do again is a step in the log") {
  const room_log log;
  cluster_options options;
  options.plane.conflict_chance = 0.8;
  cluster c{1, options};
  REQUIRE(c.run_until([&] { return c.find<Namespace>({}, "default") != nullptr; }));
  // Of ten, some meet a conflict with any seed.
  for (int i = 0; i < 10; ++i)
    c.create(deployment("web" + std::to_string(i), 1, "one"));
  c.advance(seconds{60});
  CHECK_THAT(log.text(), Contains("debug deployment-controller /registry/deployments/default/web"));
  CHECK_THAT(log.text(), Contains(": the sync failed, the next one is in "));
}

TEST_CASE("the eviction of a pod that does not tolerate its node's taints is logged") {
  const room_log log;
  cluster c{1};
  add_node(c, "n1");
  const auto pod = c.create(pod_named("a", "n1"));
  c.change<Node>({}, "n1", [](Node& node) {
    auto& taint = *node.mutable_spec()->add_taints();
    taint.set_key("gpu");
    taint.set_effect("NoExecute");
  });
  c.settle();
  CHECK_THAT(log.text(), Contains("info pod /registry/pods/default/a at revision " +
                                  std::to_string(pod->revision()) +
                                  " is evicted from node n1, whose taints it does not tolerate"));
}

TEST_CASE("the emptying and the end of a namespace are logged once each") {
  const room_log log;
  cluster c{1};
  Namespace ns;
  ns.mutable_metadata()->set_name("short");
  c.create(ns);
  c.settle();
  c.remove<Namespace>({}, "short");
  c.settle();
  CHECK(log.count("info namespaces: /registry/namespaces/short at revision ") == 2);
  CHECK_THAT(log.text(), Contains(": deletes its content") && Contains(" is deleted"));
  CHECK_THAT(log.text(), Contains("debug namespaces: /registry/serviceaccounts/short/default at "
                                  "revision "));
}

}  // namespace troupe::test
