#include "actors/pods/pods.hpp"

#include <catch2/catch.hpp>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "actors/core/condition.hpp"
#include "actors/late_watcher.hpp"
#include "actors/nodes/taints.hpp"
#include "actors/pods/pod_rules.hpp"
#include "api/schema/core_event.pb.h"
#include "api/values/timestamp.hpp"
#include "support/cluster.hpp"
#include "support/nodes.hpp"

namespace troupe::test {

using actors::decide;
using actors::pod_need;
using api::core::v1::Node;
using api::core::v1::Pod;
using std::chrono::seconds;

namespace {

Node tainted(const std::string& key, const std::string& effect = "NoExecute") {
  Node node;
  auto& taint = *node.mutable_spec()->add_taints();
  taint.set_key(key);
  taint.set_effect(effect);
  return node;
}

void tolerate(Pod& pod, const std::string& key, std::int64_t seconds_borne = -1) {
  auto& toleration = *pod.mutable_spec()->add_tolerations();
  toleration.set_key(key);
  toleration.set_operator_("Exists");
  toleration.set_effect("NoExecute");
  if (seconds_borne >= 0) toleration.set_toleration_seconds(seconds_borne);
}

// A pod that has ended, created at this second.
api::object_ptr ended(const std::string& name, std::int64_t created, const char* reason = "") {
  auto pod = pod_named(name);
  pod.mutable_metadata()->mutable_creation_timestamp()->set_seconds(created);
  pod.mutable_status()->set_phase("Failed");
  pod.mutable_status()->set_reason(reason);
  return std::make_shared<const api::object>(api::kind_of<Pod>(), std::make_unique<Pod>(pod), 1);
}

std::vector<std::string> names_of(const std::vector<api::object_ptr>& objects) {
  std::vector<std::string> names;
  for (const auto& each : objects)
    names.push_back(each->meta().name());
  return names;
}

// In the writer's place: keeps the commands to remove an object, and does nothing.
class removal_log : public runtime::actor {
 public:
  explicit removal_log(std::vector<actors::remove>* removals) : removals_{removals} {}

  const runtime::behavior& make_behavior() const override {
    static const auto table = runtime::handlers(&removal_log::on_remove);
    return table;
  }

 private:
  void on_remove(const actors::remove& m, runtime::promise<actors::command_done>) {
    removals_->push_back(m);
  }

  std::vector<actors::remove>* removals_;
};

bool deleting(cluster& c, const std::string& name) {
  const auto pod = c.find<Pod>("default", name);
  return !pod || pod->meta().has_deletion_timestamp();
}

}  // namespace

// -- the rules ------------------------------------------------------------------------------------

TEST_CASE("an unbound pod needs a node, unless another scheduler is named or it has ended") {
  auto pod = pod_named("a");
  CHECK(decide(pod, nullptr).need == pod_need::node);
  pod.mutable_spec()->set_scheduler_name("default-scheduler");
  CHECK(decide(pod, nullptr).need == pod_need::node);
  pod.mutable_spec()->set_scheduler_name("mine");
  CHECK(decide(pod, nullptr).need == pod_need::nothing);
  pod = pod_named("a");
  pod.mutable_status()->set_phase("Failed");
  CHECK(decide(pod, nullptr).need == pod_need::nothing);
}

TEST_CASE("a pod that ends on a node out of service is removed, where the node is not ready") {
  auto pod = pod_named("a");
  pod.mutable_spec()->set_node_name("n");
  auto node = tainted("node.kubernetes.io/out-of-service");
  CHECK(decide(pod, &node).need == pod_need::eviction);
  pod.mutable_metadata()->mutable_deletion_timestamp()->set_seconds(1);
  CHECK(decide(pod, &node).need == pod_need::removal);
  auto& ready = *node.mutable_status()->add_conditions();
  ready.set_type("Ready");
  ready.set_status("True");
  CHECK(decide(pod, &node).need == pod_need::nothing);
  ready.set_status("Unknown");
  CHECK(decide(pod, &node).need == pod_need::removal);
}

TEST_CASE("a pod that is being deleted is removed where no kubelet will do it") {
  const Node node;
  auto pod = pod_named("a");
  pod.mutable_metadata()->mutable_deletion_timestamp()->set_seconds(1);
  CHECK(decide(pod, nullptr).need == pod_need::removal);
  pod.mutable_spec()->set_node_name("n1");
  CHECK(decide(pod, &node).need == pod_need::nothing);
  CHECK(decide(pod, nullptr).need == pod_need::removal);
  CHECK(decide(pod, nullptr).due == seconds{0});
}

TEST_CASE("a pod that is being deleted is removed from a node that is out of service") {
  auto node = tainted("node.kubernetes.io/out-of-service");
  auto pod = pod_named("a", "n1");
  pod.mutable_metadata()->mutable_deletion_timestamp()->set_seconds(1);
  CHECK(decide(pod, &node).need == pod_need::removal);
  actors::set_condition(*node.mutable_status()->mutable_conditions(), {"Ready", "True"}, {});
  CHECK(decide(pod, &node).need == pod_need::nothing);
}

TEST_CASE("the shortest toleration of the node's NoExecute taints counts") {
  auto pod = pod_named("a", "n1");
  auto node = tainted("a");
  CHECK(decide(pod, &node).due == seconds{0});
  CHECK(decide(pod, &node).need == pod_need::eviction);
  tolerate(pod, "a", 300);
  CHECK(decide(pod, &node).due == seconds{300});
  *node.mutable_spec()->add_taints() = tainted("b").spec().taints(0);
  CHECK(decide(pod, &node).due == seconds{0});
  tolerate(pod, "b", 20);
  CHECK(decide(pod, &node).due == seconds{20});
  pod.mutable_spec()->clear_tolerations();
  tolerate(pod, "", std::numeric_limits<std::int64_t>::max());
  CHECK(decide(pod, &node).due > std::chrono::hours{24 * 365});
  pod.mutable_spec()->clear_tolerations();
  tolerate(pod, "", -1);  // everything, for ever
  CHECK(decide(pod, &node).need == pod_need::nothing);
}

TEST_CASE("a taint without the effect NoExecute evicts no pod") {
  const auto pod = pod_named("a", "n1");
  const auto node = tainted("a", "NoSchedule");
  CHECK(decide(pod, &node).need == pod_need::nothing);
}

TEST_CASE("a toleration fits by key, effect and value") {
  const auto taint = tainted("a").spec().taints(0);
  api::core::v1::Toleration toleration;
  toleration.set_key("a");
  CHECK(actors::tolerates(toleration, taint));
  toleration.set_value("x");
  CHECK_FALSE(actors::tolerates(toleration, taint));
  toleration.set_operator_("Exists");
  CHECK(actors::tolerates(toleration, taint));
  toleration.set_effect("NoSchedule");
  CHECK_FALSE(actors::tolerates(toleration, taint));
}

TEST_CASE("evicted pods and then the oldest are removed when there are too many terminated pods") {
  const std::vector<api::object_ptr> all{ended("new", 30), ended("old", 10), ended("b", 20),
                                         ended("a", 20), ended("evicted", 40, "Evicted")};
  using names = std::vector<std::string>;
  CHECK(names_of(actors::terminated_to_remove(all, 1, 9)) == names{"evicted", "old", "a", "b"});
  CHECK(names_of(actors::terminated_to_remove(all, 3, 9)) == names{"evicted", "old"});
  CHECK(actors::terminated_to_remove(all, 5, 9).empty());
}

TEST_CASE("terminated pods are removed some at a time, and a finalizer of one delays no other") {
  auto held = ended("held", 1)->copy_as<Pod>();
  held->mutable_metadata()->mutable_deletion_timestamp()->set_seconds(2);
  held->mutable_metadata()->set_deletion_grace_period_seconds(0);
  const std::vector<api::object_ptr> all{
      std::make_shared<const api::object>(api::kind_of<Pod>(), std::move(held), 1), ended("a", 10),
      ended("b", 20), ended("c", 30)};
  using names = std::vector<std::string>;
  CHECK(names_of(actors::terminated_to_remove(all, 1, 1)) == names{"a"});
  CHECK(names_of(actors::terminated_to_remove(all, 1, 9)) == names{"a", "b"});
}

TEST_CASE("a pod's actor uses little memory") {
  CHECK(sizeof(actors::pod) <= 128);
}

// -- the actors -----------------------------------------------------------------------------------

TEST_CASE("a pod gets a node") {
  cluster c{1};
  add_node(c, "n1");
  c.create(pod_named("a"));
  CHECK(c.run_until([&] { return c.get<Pod>("default", "a").spec().node_name() == "n1"; }));
}

TEST_CASE("a pod gets a node although pods, scheduler, watcher and writer crash") {
  cluster c{7};
  add_node(c, "n1");
  const std::string victim = GENERATE("supervisor/pods", "scheduler/default-scheduler",
                                      "watcher/watcher", "writer/writer");
  INFO(victim);
  const auto slash = victim.find('/');
  c.create(pod_named("before"));
  c.crash(victim.substr(0, slash), victim.substr(slash + 1));
  c.create(pod_named("after"));
  const auto bound = [&](const std::string& name) {
    return !c.get<Pod>("default", name).spec().node_name().empty();
  };
  CHECK(c.run_until([&] { return bound("before") && bound("after"); }, std::chrono::minutes{3}));
}

TEST_CASE("each pod has an actor, and it ends with the pod") {
  cluster c{1};
  c.create(pod_named("a"));
  c.create(pod_named("b"));
  c.settle();
  CHECK(c.actor("pod", "default/a"));
  c.remove<Pod>("default", "a");
  c.settle();
  CHECK_FALSE(c.actor("pod", "default/a"));
  CHECK(c.actor("pod", "default/b"));
}

TEST_CASE("actors of pods that went while their supervisor was down end") {
  cluster c{1};
  c.create(pod_named("a"));
  c.create(pod_named("b"));
  c.settle();
  c.crash("supervisor", "pods");
  c.remove<Pod>("default", "a");
  c.advance(seconds{5});
  CHECK_FALSE(c.actor("pod", "default/a"));
  CHECK(c.actor("pod", "default/b"));
}

TEST_CASE("a pod of the same name starts again") {
  cluster c{1};
  add_node(c, "n1");
  c.create(pod_named("a"));
  REQUIRE(c.run_until([&] { return !c.get<Pod>("default", "a").spec().node_name().empty(); }));
  c.remove<Pod>("default", "a", 0);
  c.create(pod_named("a"));
  CHECK(c.run_until([&] { return !c.get<Pod>("default", "a").spec().node_name().empty(); }));
}

TEST_CASE("a pod is evicted when it has tolerated its node's taint long enough") {
  cluster c{1};
  add_node(c, "n1");
  auto pod = pod_named("a", "n1");
  tolerate(pod, "example.com/gone", 30);
  c.create(pod);
  c.create(pod_named("intolerant", "n1"));
  c.settle();
  c.change<Node>({}, "n1", [&](Node& n) {
    auto& taint = *n.mutable_spec()->add_taints();
    taint = tainted("example.com/gone").spec().taints(0);
    taint.mutable_time_added()->set_seconds(actors::seconds_of(c.now()));
  });
  c.settle();
  CHECK(deleting(c, "intolerant"));
  keep_alive(c, {"n1"}, seconds{29});
  CHECK_FALSE(deleting(c, "a"));
  keep_alive(c, {"n1"}, seconds{2});
  CHECK(deleting(c, "a"));
  const auto evicted = c.get<Pod>("default", "a");
  const auto* condition = actors::find_condition(evicted.status().conditions(), "DisruptionTarget");
  REQUIRE(condition != nullptr);
  CHECK(condition->reason() == "DeletionByTaintManager");
}

TEST_CASE("a pod tolerates a taint for its time although the taint's own time is far away") {
  const auto added = GENERATE(api::first_second, api::last_second);
  cluster c{1};
  add_node(c, "n1");
  auto pod = pod_named("a", "n1");
  tolerate(pod, "example.com/gone", 30);
  c.create(pod);
  c.change<Node>({}, "n1", [&](Node& n) {
    auto& taint = *n.mutable_spec()->add_taints();
    taint = tainted("example.com/gone").spec().taints(0);
    taint.mutable_time_added()->set_seconds(added);
  });
  c.settle();
  CHECK(deleting(c, "a") == (added == api::first_second));
  keep_alive(c, {"n1"}, seconds{31});
  CHECK(deleting(c, "a"));
}

TEST_CASE(
    "a taint that is removed in time evicts no pod, and a crash does not restart the period") {
  cluster c{1};
  add_node(c, "n1");
  auto pod = pod_named("a", "n1");
  tolerate(pod, "example.com/gone", 30);
  c.create(pod);
  c.settle();
  c.change<Node>({}, "n1", [&](Node& n) {
    auto& taint = *n.mutable_spec()->add_taints();
    taint = tainted("example.com/gone").spec().taints(0);
    taint.mutable_time_added()->set_seconds(actors::seconds_of(c.now()));
  });
  keep_alive(c, {"n1"}, seconds{20});
  SECTION("gone") {
    c.change<Node>({}, "n1", [](Node& n) { n.mutable_spec()->clear_taints(); });
    keep_alive(c, {"n1"}, seconds{60});
    CHECK_FALSE(deleting(c, "a"));
  }
  SECTION("crash") {
    c.crash("pod", "default/a");
    keep_alive(c, {"n1"}, seconds{11});
    CHECK(deleting(c, "a"));
  }
}

TEST_CASE("a deleted pod with a finalizer is not changed until the finalizer is removed") {
  cluster c{1};
  auto pod = pod_named("a", "nowhere");
  pod.mutable_metadata()->add_finalizers("example.com/mine");
  c.create(pod);
  c.remove<Pod>("default", "a");
  CHECK(c.simulation().settle(10'000) < 10'000);
  REQUIRE(deleting(c, "a"));
  c.change<Pod>("default", "a", [](Pod& p) { p.mutable_metadata()->clear_finalizers(); });
  c.settle();
  CHECK_FALSE(c.find<Pod>("default", "a"));
}

TEST_CASE("the pods of a node that is not ready are not ready") {
  cluster c{1};
  add_node(c, "n1");
  c.create(pod_named("a", "n1"));
  c.change<Pod>("default", "a", [&](Pod& p) {
    actors::set_condition(*p.mutable_status()->mutable_conditions(), {"Ready", "True"}, c.now());
  });
  c.settle();
  post_ready(c, "n1", "False");
  c.settle();
  const auto marked = c.get<Pod>("default", "a");
  const auto* ready = actors::find_condition(marked.status().conditions(), "Ready");
  CHECK(ready->status() == "False");
  std::vector<std::string> events;
  for (const auto& each : c.list<api::core::v1::Event>("default")) {
    const auto& event = each->as<api::core::v1::Event>();
    if (event.involved_object().name() == "a")
      events.push_back(event.type() + " " + event.reason() + " " + event.message());
  }
  CHECK(events == std::vector<std::string>{"Warning NodeNotReady Node is not ready"});
}

TEST_CASE("pods of a node that has vanished are removed after the quarantine") {
  cluster c{1};
  add_node(c, "n1");
  c.create(pod_named("a", "n1"));
  c.settle();
  c.remove<Node>({}, "n1");
  c.advance(seconds{39});
  CHECK(c.find<Pod>("default", "a"));
  c.advance(seconds{2});
  CHECK_FALSE(c.find<Pod>("default", "a"));
}

TEST_CASE("a pod that a finalizer holds has failed when its node has vanished") {
  cluster c{1};
  add_node(c, "n1");
  auto pod = pod_named("a", "n1");
  pod.mutable_metadata()->add_finalizers("example.com/mine");
  c.create(pod);
  c.settle();
  c.remove<Node>({}, "n1");
  c.advance(seconds{41});
  REQUIRE(deleting(c, "a"));
  const auto status = c.get<Pod>("default", "a").status();
  CHECK(status.phase() == "Failed");
  const auto* target = actors::find_condition(status.conditions(), "DisruptionTarget");
  REQUIRE(target != nullptr);
  CHECK(target->reason() == "DeletionByPodGC");
  c.change<Pod>("default", "a", [](Pod& p) { p.mutable_metadata()->clear_finalizers(); });
  c.settle();
  CHECK_FALSE(c.find<Pod>("default", "a"));
}

TEST_CASE("a pod whose actor saw its node before its supervisor did is removed with the node") {
  cluster c{3};
  add_node(c, "n1");
  auto bare = pod_named("a");
  bare.mutable_spec()->set_scheduler_name("mine");
  c.create(bare);
  c.settle();
  // The watcher is down for longer than the pod's actor, which reads the store when it restarts.
  for (int i = 0; i < 3; ++i) {
    c.crash("watcher", "watcher");
    c.advance(seconds{1});
  }
  c.crash("watcher", "watcher");
  c.change<Pod>("default", "a", [](Pod& p) { p.mutable_spec()->set_node_name("n1"); });
  c.crash("pod", "default/a");
  c.advance(std::chrono::milliseconds{300});
  c.remove<Node>({}, "n1");
  CHECK(c.run_until([&] { return !c.find<Pod>("default", "a"); }, seconds{120}));
}

TEST_CASE("a pod whose node was deleted before the nodes were read is removed with the node") {
  cluster_options options;
  options.plane.controllers = false;
  cluster c{1, options};
  add_node(c, "n1");
  c.create(pod_named("a", "n1"));
  const auto core = c.plane().core_actors();
  const auto watcher = spawn_late_watcher(c, api::kind_of<Node>());
  c.simulation().system().spawn(
      {.kind = "supervisor", .name = "pods"},
      runtime::make<actors::pods>(watcher,
                                  actors::pod_context{&c.store(), core.writer, {}, core.recorder},
                                  actors::pods_options{}));
  c.settle();
  c.remove<Node>({}, "n1");
  watcher.tell(show_all{});
  CHECK(c.run_until([&] { return !c.find<Pod>("default", "a"); }, seconds{120}));
}

TEST_CASE("the removal of a terminated pod names its uid") {
  cluster_options options;
  options.plane.controllers = false;
  cluster c{1, options};
  for (const auto* name : {"a", "b"}) {
    c.create(pod_named(name));
    c.change<Pod>("default", name, [](Pod& pod) { pod.mutable_status()->set_phase("Failed"); });
  }
  const auto core = c.plane().core_actors();
  std::vector<actors::remove> removals;
  auto& system = c.simulation().system();
  const auto log = system.spawn({.kind = "removal-log", .name = "removal-log"},
                                runtime::make<removal_log>(&removals));
  system.spawn({.kind = "supervisor", .name = "pods"},
               runtime::make<actors::pods>(core.watcher,
                                           actors::pod_context{&c.store(), log, {}, core.recorder},
                                           actors::pods_options{.terminated_kept = 1}));
  REQUIRE(c.run_until([&] { return !removals.empty(); }));
  CHECK(removals.front().key == api::kind_of<Pod>().key("default", "a"));
  CHECK(removals.front().uid == c.get<Pod>("default", "a").metadata().uid());
}

TEST_CASE("a deleted pod on a node that does not exist goes at once") {
  cluster c{1};
  c.create(pod_named("a", "nowhere"));
  c.settle();
  c.remove<Pod>("default", "a");
  c.settle();
  CHECK_FALSE(c.find<Pod>("default", "a"));
}

}  // namespace troupe::test
