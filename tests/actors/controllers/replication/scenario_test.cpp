// Replication controllers and replica sets in a simulated cluster.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "actors/controllers/kit/claims.hpp"
#include "actors/controllers/replication/pod_record.hpp"
#include "actors/core/condition.hpp"
#include "api/schema/core_event.pb.h"
#include "api/schema/core_namespace.pb.h"
#include "api/schema/scheduling_v1.pb.h"
#include "api/values/timestamp.hpp"
#include "support/nodes.hpp"
#include "support/workloads.hpp"

namespace troupe::test {

using actors::replication::read_pod;
using api::apps::v1::ReplicaSet;
using api::core::v1::Event;
using api::core::v1::Namespace;
using api::core::v1::Pod;
using api::core::v1::ReplicationController;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

namespace {

const labels web = {{"app", "web"}};

template <class T>
void scale(cluster& c, int replicas) {
  c.change<T>("default", "web", [&](T& set) { set.mutable_spec()->set_replicas(replicas); });
}

template <class T>
std::string uid_of(const cluster& c) {
  return c.find<T>("default", "web")->meta().uid();
}

template <class T>
std::size_t active(const cluster& c) {
  return active_pods(c, uid_of<T>(c));
}

std::set<std::string> pod_names(const cluster& c) {
  std::set<std::string> names;
  for (const auto& pod : c.list<Pod>())
    names.insert(pod->meta().name());
  return names;
}

// How often each reason occurs, from any source.
std::map<std::string, int> events(const cluster& c) {
  std::map<std::string, int> told;
  for (const auto& each : c.list<Event>()) {
    const auto& event = each->as<Event>();
    told[event.reason()] += std::max(1, event.count());
  }
  return told;
}

}  // namespace

TEST_CASE("a controller of either kind makes as many pods as it asks for", "[replication]") {
  cluster c{1};
  c.create(replication_controller("web", 3, web));
  c.create(replica_set("web", 2, {{"app", "other"}}));
  c.settle();
  CHECK(active<ReplicationController>(c) == 3);
  CHECK(active<ReplicaSet>(c) == 2);
  CHECK(c.get<ReplicationController>("default", "web").status().replicas() == 3);
  CHECK(c.get<ReplicaSet>("default", "web").status().fully_labeled_replicas() == 2);
  CHECK(events(c)["SuccessfulCreate"] == 5);
  scale<ReplicationController>(c, 1);
  c.settle();
  CHECK(active<ReplicationController>(c) == 1);
  CHECK(events(c)["SuccessfulDelete"] == 2);
}

TEST_CASE("scaling 0 to 500 to 0 to 500 within a second ends at 500 and never exceeds it",
          "[replication]") {
  cluster c{7};
  c.create(replica_set("web", 0, web));
  c.settle();
  std::size_t most = 0;
  const auto look = [&] { most = std::max(most, active<ReplicaSet>(c)); };
  for (const int replicas : {500, 0, 500}) {
    scale<ReplicaSet>(c, replicas);
    for (int i = 0; i < 2'000; ++i) {
      c.simulation().step();
      if (i % 20 == 0) look();
    }
    c.advance(milliseconds{100});
    look();
  }
  CHECK(c.run_until([&] { return look(), active<ReplicaSet>(c) == 500; }, seconds{1}));
  c.advance(seconds{60});
  look();
  CHECK(active<ReplicaSet>(c) == 500);
  CHECK(most == 500);
}

TEST_CASE("a controller that is killed at any moment makes no pod twice", "[replication]") {
  for (int moment = 0; moment < 60; ++moment) {
    INFO("killed after " << moment << " messages");
    cluster c{static_cast<std::uint64_t>(moment)};
    c.create(replica_set("web", 4, web));
    for (int i = 0; i < moment; ++i)
      c.simulation().step();
    if (c.actor("replicaset", "default/web")) c.crash("replicaset", "default/web");
    c.advance(seconds{10});
    CHECK(active<ReplicaSet>(c) == 4);
    CHECK(events(c)["SuccessfulDelete"] == 0);
    CHECK(c.count<Pod>() == 4);
  }
}

TEST_CASE(
    "a message lost with a crash of the writer delays a controller by half a minute, not five",
    "[replication]") {
  for (int moment = 0; moment < 40; ++moment) {
    INFO("the writer crashes after " << moment << " messages");
    cluster c{static_cast<std::uint64_t>(moment)};
    c.create(replica_set("web", 4, web));
    for (int i = 0; i < moment; ++i)
      c.simulation().step();
    c.crash("term-writer", "term-writer");
    CHECK(c.run_until([&] { return active<ReplicaSet>(c) == 4; }, seconds{40}));
    c.advance(seconds{40});
    CHECK(active<ReplicaSet>(c) == 4);
  }
}

TEST_CASE("events while the supervisor was down are handled when it restarts", "[replication]") {
  cluster c{2};
  c.create(replica_set("web", 3, web));
  c.create(replica_set("gone", 3, {{"app", "gone"}}));
  c.settle();
  c.crash("supervisor", "replication");
  c.remove<Pod>("default", *pod_names(c).rbegin(), 0);
  c.remove<ReplicaSet>("default", "gone");
  c.advance(seconds{5});
  CHECK(active<ReplicaSet>(c) == 3);
  CHECK(c.count<Pod>() == 3);
  CHECK_FALSE(c.actor("replicaset", "default/gone"));
}

TEST_CASE(
    "each controller's pods carry its own request, also when one message reports several "
    "controllers",
    "[replication]") {
  cluster c{2};
  c.settle();
  c.crash("supervisor", "replication");
  for (int i = 0; i < 5; ++i)
    c.create(replica_set(fmt::format("web{}", i), 3, {{"app", fmt::format("web{}", i)}}));
  c.advance(seconds{5});
  const auto log = c.store().changes(0, 10'000);
  REQUIRE(log.has_value());
  std::map<std::string, std::uint64_t> request_of;  // by the owner's uid
  std::size_t pods = 0;
  for (const auto& each : *log) {
    if (each.type != persistence::change_type::created) continue;
    const auto& meta = each.object->meta();
    if (&each.object->kind() == &api::kind_of<ReplicaSet>())
      request_of[meta.uid()] = each.cause.request;
    if (&each.object->kind() != &api::kind_of<Pod>()) continue;
    ++pods;
    CHECK(each.cause.request == request_of.at(std::string{actors::controller_uid(*each.object)}));
  }
  CHECK(pods == 15);
}

TEST_CASE("a controller reconciles again after its mailbox was full", "[replication]") {
  struct noise {};
  cluster c{2};
  c.create(replica_set("web", 3, web));
  c.settle();
  const auto controller = c.actor("replicaset", "default/web");
  auto& system = c.simulation().system();
  REQUIRE(system.pause(controller, seconds{30}));
  while (controller.tell(noise{})) {
  }
  c.remove<Pod>("default", *pod_names(c).begin(), 0);
  c.settle();
  REQUIRE(active<ReplicaSet>(c) == 2);
  REQUIRE(system.resume(controller));
  c.advance(seconds{3});
  CHECK(active<ReplicaSet>(c) == 3);
}

TEST_CASE("an owner that is made again under its name takes none of its predecessor's pods",
          "[replication]") {
  const bool supervisor_sees_it = GENERATE(true, false);
  cluster c{3};
  c.create(replica_set("web", 3, web));
  c.settle();
  const auto old_uid = uid_of<ReplicaSet>(c);
  const auto old_pods = pod_names(c);
  if (!supervisor_sees_it) c.crash("supervisor", "replication");
  c.remove<ReplicaSet>("default", "web");
  c.create(replica_set("web", 3, web));
  c.advance(seconds{5});
  CHECK(uid_of<ReplicaSet>(c) != old_uid);
  CHECK(active<ReplicaSet>(c) == 3);
  CHECK(c.count<Pod>() == 3);
  for (const auto& name : pod_names(c))
    CHECK_FALSE(old_pods.contains(name));
}

TEST_CASE("controllers created one after another under one name never reuse a uid of a pod",
          "[replication]") {
  cluster c{3};
  std::set<std::string> uids;
  std::size_t made = 0;
  for (int round = 0; round < 4; ++round) {
    c.create(replica_set("web", 5, web));
    c.settle();
    for (const auto& pod : c.list<Pod>())
      uids.insert(pod->meta().uid());
    made += c.count<Pod>();
    c.remove<ReplicaSet>("default", "web");
    c.settle();
    REQUIRE(c.count<Pod>() == 0);
  }
  CHECK(made == 20);
  CHECK(uids.size() == made);
}

TEST_CASE("pods that an owner left behind are adopted by a new one", "[replication]") {
  cluster c{4};
  c.create(replica_set("web", 3, web));
  c.settle();
  const auto before = pod_names(c);
  c.remove<ReplicaSet>("default", "web", -1, "Orphan");
  c.settle();
  REQUIRE(pod_names(c) == before);
  auto next = replica_set("next", 3, web);
  c.create(next);
  c.settle();
  CHECK(pod_names(c) == before);
  CHECK(active_pods(c, c.find<ReplicaSet>("default", "next")->meta().uid()) == 3);
}

TEST_CASE("the pods of an owner that is deleted begin to go at once", "[replication]") {
  cluster c{4};
  add_node(c, "n1");
  const std::string policy = GENERATE("Background", "Foreground");
  c.create(replica_set("web", 3, web));
  c.settle();
  run_kubelets(c);
  c.settle();
  c.remove<ReplicaSet>("default", "web", -1, policy);
  c.settle();  // no time passes
  for (const auto& pod : c.list<Pod>())
    CHECK(pod->meta().has_deletion_timestamp());
  CHECK((c.find<ReplicaSet>("default", "web") != nullptr) == (policy == "Foreground"));
  run_kubelets(c);
  c.settle();
  CHECK(c.count<Pod>() == 0);
  CHECK_FALSE(c.find<ReplicaSet>("default", "web"));
}

TEST_CASE("a pod whose labels no longer match is released and replaced", "[replication]") {
  cluster c{5};
  c.create(replica_set("web", 2, web));
  c.settle();
  const auto name = *pod_names(c).begin();
  c.change<Pod>("default", name,
                [](Pod& pod) { (*pod.mutable_metadata()->mutable_labels())["app"] = "debug"; });
  c.settle();
  CHECK(active<ReplicaSet>(c) == 2);
  CHECK(c.count<Pod>() == 3);
  CHECK(c.get<Pod>("default", name).metadata().owner_references_size() == 0);
}

TEST_CASE("controllers whose selectors overlap do not fight over a pod", "[replication]") {
  cluster c{GENERATE(range<std::uint64_t>(1, 41))};
  c.create(replication_controller("web", 2, web));
  c.create(replica_set("web", 2, web));
  c.settle();
  for (int i = 0; i < 5; ++i) {
    auto orphan = pod_named("orphan" + std::to_string(i));
    (*orphan.mutable_metadata()->mutable_labels())["app"] = "web";
    c.create(orphan);
    c.settle();
  }
  c.advance(seconds{10});  // the controller that conflicted has retried
  CHECK(active<ReplicationController>(c) == 2);
  CHECK(active<ReplicaSet>(c) == 2);
  // It does not keep retrying.
  const auto before = c.store().stats();
  c.advance(seconds{10});
  CHECK(c.store().stats().conflicts == before.conflicts);
}

TEST_CASE("failed creations are reported, retried with back-off and completed", "[replication]") {
  cluster c{8};
  auto set = replica_set("web", 100, web);
  set.mutable_spec()->mutable_template_()->mutable_spec()->set_priority_class_name("high");
  c.create(set);
  c.settle();
  // Slow start: one attempt fails, the other 99 are not made (and one more when the written status
  // arrives).
  CHECK(events(c)["FailedCreate"] <= 2);
  const auto status = c.get<ReplicaSet>("default", "web").status();
  const auto* failure = actors::find_condition(status.conditions(), "ReplicaFailure");
  REQUIRE(failure != nullptr);
  CHECK(failure->reason() == "FailedCreate");
  CHECK_THAT(failure->message(), Catch::Contains("no PriorityClass with name high was found"));

  // 5 ms, 10 ms, …: eleven more within the first 10.235 s.
  c.advance(milliseconds{10'300});
  CHECK(events(c)["FailedCreate"] >= 12);
  CHECK(events(c)["FailedCreate"] <= 13);

  api::scheduling::v1::PriorityClass high;
  high.mutable_metadata()->set_name("high");
  high.set_value(100);
  c.create(high);
  c.advance(seconds{11});
  CHECK(active<ReplicaSet>(c) == 100);
  CHECK(c.get<ReplicaSet>("default", "web").status().conditions().empty());
}

TEST_CASE("a failed sync is tried again after 5 ms, then after twice as long, until one succeeds",
          "[replication]") {
  cluster c{8};
  auto set = replica_set("web", 1, web);
  set.mutable_spec()->mutable_template_()->mutable_spec()->set_priority_class_name("high");
  c.create(set);
  milliseconds waited{0};
  for (milliseconds wait{5}; wait < seconds{300}; wait *= 2) {
    const auto taken = until_next_sync(c, "replicaset", "default/web");
    CHECK(is_delay(taken, wait));
    waited += taken;
  }
  // From here on the periodic resync comes first. Each failure doubles the pause: after a day it
  // would overflow the clock's range.
  constexpr minutes look_period{10};
  CHECK(is_delay(until_next_sync(c, "replicaset", "default/web"), look_period - waited));
  for (int looks = 0; looks < 24 * 6; ++looks)
    REQUIRE(is_delay(until_next_sync(c, "replicaset", "default/web"), look_period));

  api::scheduling::v1::PriorityClass high;
  high.mutable_metadata()->set_name("high");
  high.set_value(100);
  c.create(high);
  until_next_sync(c, "replicaset", "default/web");
  c.settle();
  REQUIRE(active<ReplicaSet>(c) == 1);
  c.remove<api::scheduling::v1::PriorityClass>({}, "high");
  scale<ReplicaSet>(c, 2);
  for (milliseconds wait{5}; wait < seconds{1}; wait *= 2)
    CHECK(is_delay(until_next_sync(c, "replicaset", "default/web"), wait));
}

TEST_CASE("a controller in back-off reacts to a change of its owner at once", "[replication]") {
  cluster c{8};
  auto set = replica_set("web", 1, web);
  set.mutable_spec()->mutable_template_()->mutable_spec()->set_priority_class_name("none");
  c.create(set);
  c.advance(seconds{100});  // the next retry is a minute away
  REQUIRE_FALSE(c.get<ReplicaSet>("default", "web").status().conditions().empty());
  scale<ReplicaSet>(c, 0);
  c.settle();
  CHECK(c.get<ReplicaSet>("default", "web").status().conditions().empty());
  CHECK(c.get<ReplicaSet>("default", "web").status().observed_generation() == 2);
}

TEST_CASE("in a terminating namespace a controller makes no pods and reports no failure",
          "[replication]") {
  cluster c{9};
  Namespace ns;
  ns.mutable_metadata()->set_name("ends");
  c.create(ns);
  auto set = replica_set("web", 3, web);
  set.mutable_metadata()->set_namespace_("ends");
  set.mutable_metadata()->add_finalizers("example.com/hold");
  c.create(set);
  c.settle();
  REQUIRE(c.count<Pod>("ends") == 3);
  c.remove<Namespace>({}, "ends");
  c.advance(seconds{30});
  CHECK(c.count<Pod>("ends") == 0);
  CHECK(events(c)["FailedCreate"] == 0);
  c.change<ReplicaSet>("ends", "web",
                       [](ReplicaSet& held) { held.mutable_metadata()->clear_finalizers(); });
  c.advance(seconds{30});
  CHECK_FALSE(c.find<Namespace>({}, "ends"));
}

TEST_CASE("a pod counts as available when it has been ready for minReadySeconds", "[replication]") {
  cluster c{10};
  add_node(c, "n1");
  auto set = replica_set("web", 2, web);
  set.mutable_spec()->set_min_ready_seconds(30);
  c.create(set);
  c.settle();
  const auto all = pod_names(c);
  const auto available = [&] {
    return c.get<ReplicaSet>("default", "web").status().available_replicas();
  };
  const auto pass = [&](int time) {
    keep_alive(c, {"n1"}, seconds{time});
    c.settle();
  };
  post_pod(c, *all.begin(), true);
  pass(20);
  post_pod(c, *all.rbegin(), true);
  pass(9);
  CHECK(c.get<ReplicaSet>("default", "web").status().ready_replicas() == 2);
  CHECK(available() == 0);
  pass(1);
  CHECK(available() == 1);
  pass(19);
  CHECK(available() == 1);
  pass(1);
  CHECK(available() == 2);
}

TEST_CASE("a pod that is ready since a time in the far future does not keep its controller busy",
          "[replication]") {
  cluster c{12};
  add_node(c, "n1");
  auto set = replica_set("web", 1, web);
  set.mutable_spec()->set_min_ready_seconds(30);
  c.create(set);
  c.settle();
  const auto name = *pod_names(c).begin();
  post_pod(c, name, true);
  c.change<Pod>("default", name, [](Pod& pod) {
    for (auto& each : *pod.mutable_status()->mutable_conditions())
      each.mutable_last_transition_time()->set_seconds(api::last_second);
  });
  CHECK(until_next_sync(c, "replicaset", "default/web") >= seconds{1});
}

TEST_CASE("scaling down deletes the pods with the lowest rank, one by one", "[replication]") {
  cluster c{11};
  add_node(c, "n1");
  add_node(c, "n2");
  const auto put = [&](const std::string& name, const std::string& node) {
    auto pod = pod_named(name, node);
    (*pod.mutable_metadata()->mutable_labels())["app"] = "web";
    if (node.empty()) pod.mutable_spec()->set_scheduler_name("nobody");
    if (name == "cheap")
      (*pod.mutable_metadata()
            ->mutable_annotations())["controller.kubernetes.io/pod-deletion-cost"] = "-5";
    c.create(pod);
    if (!node.empty() && name != "pending") post_pod(c, name, name != "unready");
  };
  for (const char* name : {"old", "restarted", "cheap", "unready", "pending"})
    put(name, "n1");
  c.change<Pod>("default", "restarted", [](Pod& pod) {
    pod.mutable_status()->add_container_statuses()->set_restart_count(3);
  });
  put("unbound", "");
  c.advance(seconds{20});
  put("young", "n1");
  put("lonely", "n2");
  c.create(replica_set("web", 8, web));
  c.settle();
  REQUIRE(active<ReplicaSet>(c) == 8);

  std::vector<std::string> order;
  for (int replicas = 7; replicas >= 0; --replicas) {
    scale<ReplicaSet>(c, replicas);
    c.settle();
    for (const auto& name :
         {"old", "restarted", "cheap", "unready", "pending", "unbound", "young", "lonely"}) {
      const auto pod = c.find<Pod>("default", name);
      const bool goes = !pod || pod->meta().has_deletion_timestamp();
      if (goes && std::find(order.begin(), order.end(), name) == order.end())
        order.emplace_back(name);
    }
  }
  CHECK(order == std::vector<std::string>{"unbound", "pending", "unready", "cheap", "young",
                                          "restarted", "lonely", "old"});
}

TEST_CASE("the status becomes correct although its writes conflict", "[replication]") {
  cluster_options options;
  options.plane.conflict_chance = 0.4;
  cluster c{12, options};
  c.create(replica_set("web", 5, web));
  c.advance(seconds{30});
  const auto status = c.get<ReplicaSet>("default", "web").status();
  CHECK(status.replicas() == 5);
  CHECK(status.fully_labeled_replicas() == 5);
  CHECK(status.observed_generation() == 1);
}

}  // namespace troupe::test
