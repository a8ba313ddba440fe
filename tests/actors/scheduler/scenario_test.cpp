// The scheduler in a simulated cluster.
#include <catch2/catch.hpp>

#include "actors/core/condition.hpp"
#include "actors/core/metrics.hpp"
#include "actors/scheduler/registry.hpp"
#include "api/schema/core_event.pb.h"
#include "support/nodes.hpp"
#include "support/seeds.hpp"
#include "support/workloads.hpp"

namespace troupe::test {

using actors::find_condition;
using api::core::v1::Event;
using api::core::v1::Node;
using api::core::v1::Pod;
using std::chrono::seconds;

namespace {

using namespace actors::scheduler;

// Throws at the first two attempts of each pod with the label "trouble".
class troublesome : public plugin, public filter_plugin {
 public:
  std::string_view name() const noexcept override { return "Troublesome"; }

  status filter(const cycle&, const pod_info& pod, const node_info&) const override {
    const auto& labels = pod.body().metadata().labels();
    if (!labels.contains("trouble")) return {};
    const auto attempt = ++attempts_[pod.key];
    if (attempt == 1) throw std::runtime_error{"no idea"};
    if (attempt == 2) throw attempt;
    return {};
  }

 private:
  mutable std::map<std::string, int> attempts_;
};

const registration registered{"Troublesome", make_plugin<troublesome>};

// Binds the pods with the label "elsewhere"; the test decides the result.
class elsewhere : public plugin, public bind_plugin {
 public:
  std::string_view name() const noexcept override { return "Elsewhere"; }

  status bind(const pod_info_ptr& pod, const std::string&, answer done) override {
    if (!pod->body().metadata().labels().contains("elsewhere")) return {status_code::skip, {}};
    answers.push_back(std::move(done));
    return {};
  }

  static inline std::vector<answer> answers;
};

const registration also_registered{"Elsewhere", make_plugin<elsewhere>};

void add_small_node(cluster& c, const std::string& name, int cpus) {
  add_node(c, name);
  c.change<Node>({}, name, [&](Node& node) {
    (*node.mutable_status()->mutable_allocatable())["cpu"].set_string(std::to_string(cpus));
  });
  c.settle();
}

Pod asking(const std::string& name, int cpus, int priority = 0) {
  auto pod = pod_named(name);
  auto& requests = *pod.mutable_spec()->mutable_containers(0)->mutable_resources();
  (*requests.mutable_requests())["cpu"].set_string(std::to_string(cpus));
  pod.mutable_spec()->set_priority(priority);
  return pod;
}

// Priorities come from their classes.
Pod important(const std::string& name, int cpus, const std::string& priority_class) {
  auto pod = asking(name, cpus);
  pod.mutable_spec()->clear_priority();
  pod.mutable_spec()->set_priority_class_name(priority_class);
  return pod;
}

cluster_options with_elsewhere() {
  cluster_options options;
  options.plane.scheduler_profiles.front().plugins.push_back({"Elsewhere", 0});
  return options;
}

Pod pod_elsewhere(const std::string& name, int cpus) {
  auto pod = asking(name, cpus);
  (*pod.mutable_metadata()->mutable_labels())["elsewhere"] = "yes";
  return pod;
}

std::string node_of(const cluster& c, const std::string& pod) {
  return c.get<Pod>("default", pod).spec().node_name();
}

bool leaves(const cluster& c, const std::string& pod) {
  return c.get<Pod>("default", pod).metadata().has_deletion_timestamp();
}

int told(const cluster& c, const std::string& reason) {
  int times = 0;
  for (const auto& each : c.list<Event>())
    if (each->as<Event>().reason() == reason) times += std::max(1, each->as<Event>().count());
  return times;
}

// Refuses evictions.
class no_evictions final : public actors::admission::external_step {
 public:
  std::string_view name() const noexcept override { return "no-evictions"; }
  bool mutates() const noexcept override { return false; }
  bool handles(const api::kind_info& kind, actors::admission::operation, bool part) const override {
    return &kind == &api::kind_of<Pod>() && part;
  }
  runtime::duration timeout() const noexcept override { return seconds{10}; }
  void ask(actors::admission::question_ptr about,
           std::function<void(actors::admission::reply)> answer) const override {
    if (about->subresource != "eviction") return answer(actors::admission::reply{});
    ++asked;
    answer(api::fail(api::forbidden(*about->kind, "old", "no pod is evicted here")));
  }

  mutable int asked = 0;
};

// Refused binds, of all schedulers of this process.
std::uint64_t failures() {
  return actors::metrics_of_scheduler().failed;
}

}  // namespace

TEST_CASE("an exception in a plugin loses no pod and delays no other", "[scheduler]") {
  cluster_options options;
  options.plane.scheduler_profiles.front().plugins.push_back({"Troublesome", 0});
  cluster c{1, options};
  add_node(c, "n1");
  for (int i = 0; i < 6; ++i) {
    auto pod = pod_named("p" + std::to_string(i));
    if (i % 2 == 0) (*pod.mutable_metadata()->mutable_labels())["trouble"] = "yes";
    c.create(pod);
  }
  c.settle();
  for (int i = 0; i < 6; ++i)
    CHECK(node_of(c, "p" + std::to_string(i)) == (i % 2 == 0 ? "" : "n1"));
  CHECK(told(c, "FailedScheduling") == 3);
  c.advance(seconds{4});  // after 1 s and 2 s
  c.settle();
  for (int i = 0; i < 6; ++i)
    CHECK(node_of(c, "p" + std::to_string(i)) == "n1");
  const auto info =
      c.simulation().system().actors().find(c.actor("scheduler", "default-scheduler").id());
  CHECK(info->restarts == 0);
}

TEST_CASE("a scheduler that is killed at any moment binds every pod and overcommits no node",
          "[scheduler]") {
  for_each_seed(60, [](std::uint64_t moment) {
    cluster c{moment};
    for (const char* node : {"n0", "n1", "n2"})
      add_small_node(c, node, 4);
    for (int i = 0; i < 12; ++i)
      c.create(asking("p" + std::to_string(i), 1));
    for (std::uint64_t i = 0; i < moment * 2; ++i)
      c.simulation().step();
    // Binds that were sent are still pending when its next incarnation starts.
    auto& system = c.simulation().system();
    REQUIRE(system.pause(c.actor("term-writer", "term-writer"), seconds{5}));
    c.crash("scheduler", "default-scheduler");
    c.advance(seconds{1});
    REQUIRE(system.resume(c.actor("term-writer", "term-writer")));
    CHECK(c.run_until([&] {
      const auto all = c.list<Pod>();
      return std::all_of(all.begin(), all.end(), [](const auto& pod) {
        return !pod->template as<Pod>().spec().node_name().empty();
      });
    }));
    std::map<std::string, int> on;
    for (const auto& pod : c.list<Pod>())
      ++on[pod->as<Pod>().spec().node_name()];
    CHECK(on == std::map<std::string, int>{{"n0", 4}, {"n1", 4}, {"n2", 4}});
  });
}

TEST_CASE("a pod whose actor asks again before it sees the bind is not bound again",
          "[scheduler]") {
  cluster c{7};
  add_small_node(c, "n1", 4);
  const auto failed = failures();
  const auto unbound = c.create(asking("p", 1));
  while (node_of(c, "p").empty())
    REQUIRE(c.simulation().step());
  auto& system = c.simulation().system();
  const auto watcher = c.actor("watcher", "watcher");
  REQUIRE(system.pause(watcher, seconds{5}));
  c.settle();
  c.actor("scheduler", "default-scheduler").tell(actors::schedule{unbound});
  c.settle();
  CHECK(failures() == failed);
  REQUIRE(system.resume(watcher));
  c.advance(seconds{5});
  CHECK(failures() == failed);
  CHECK(told(c, "Scheduled") == 1);
  CHECK(told(c, "FailedScheduling") == 0);
}

TEST_CASE("a scheduling request for a pod that has ended is dropped", "[scheduler]") {
  cluster c{8};
  add_small_node(c, "n1", 4);
  const auto unbound = c.create(asking("p", 1));
  c.settle();
  REQUIRE(node_of(c, "p") == "n1");
  c.change<Pod>("default", "p", [](Pod& pod) { pod.mutable_status()->set_phase("Succeeded"); });
  c.settle();
  const auto failed = failures();
  c.actor("scheduler", "default-scheduler").tell(actors::schedule{unbound});
  keep_alive(c, {"n1"}, seconds{60});
  CHECK(failures() == failed + 1);  // it knows only the writer's response about the pod
  CHECK(told(c, "FailedScheduling") == 0);
}

TEST_CASE("a bind that is answered too late is tried again and harms nothing", "[scheduler]") {
  cluster c{9};
  add_small_node(c, "n1", 4);
  auto& system = c.simulation().system();
  c.create(asking("p", 3));
  REQUIRE(system.pause(c.actor("term-writer", "term-writer"), seconds{60}));
  c.advance(seconds{35});
  REQUIRE(system.resume(c.actor("term-writer", "term-writer")));
  renew_lease(c, "n1");
  c.settle();
  CHECK(node_of(c, "p") == "n1");
  c.create(asking("too-big", 2));
  c.create(asking("fits", 1));
  c.advance(seconds{5});
  CHECK(node_of(c, "too-big").empty());
  CHECK(node_of(c, "fits") == "n1");
}

TEST_CASE("a plugin may bind pods by its own means", "[scheduler]") {
  auto& answers = elsewhere::answers;
  answers.clear();
  cluster c{10, with_elsewhere()};
  add_small_node(c, "n1", 4);
  c.create(pod_elsewhere("own", 1));
  c.create(asking("other", 1));
  c.settle();
  CHECK(node_of(c, "other") == "n1");
  REQUIRE(answers.size() == 1);
  answers[0](api::fail(api::internal("not today")));
  c.advance(seconds{1});
  CHECK(told(c, "FailedScheduling") == 1);
  REQUIRE(answers.size() == 2);
  // It never reports the result of that one.
  keep_alive(c, {"n1"}, seconds{40});
  CHECK(told(c, "FailedScheduling") == 2);
  REQUIRE(answers.size() == 3);
  c.plane().bind({api::kind_of<Pod>().key("default", "own"), {}, "n1"}, 1, answers[2]);
  c.settle();
  CHECK(node_of(c, "own") == "n1");
  CHECK(told(c, "Scheduled") == 2);
  answers[1](api::fail(api::internal("at last")));
  keep_alive(c, {"n1"}, seconds{40});
  CHECK(answers.size() == 3);
  CHECK(told(c, "FailedScheduling") == 2);
  answers.clear();
}

TEST_CASE("a plugin's answer to a former incarnation of the scheduler ends no bind of this one",
          "[scheduler]") {
  auto& answers = elsewhere::answers;
  answers.clear();
  cluster c{10, with_elsewhere()};
  add_small_node(c, "n1", 4);
  c.create(pod_elsewhere("own", 1));
  c.settle();
  REQUIRE(answers.size() == 1);
  c.crash("scheduler", "default-scheduler");
  c.advance(seconds{1});
  REQUIRE(answers.size() == 2);
  answers[0](api::fail(api::internal("of a former life")));
  c.settle();
  CHECK(told(c, "FailedScheduling") == 0);
  c.plane().bind({api::kind_of<Pod>().key("default", "own"), {}, "n1"}, 1, answers[1]);
  c.settle();
  CHECK(told(c, "Scheduled") == 1);
  answers.clear();
}

TEST_CASE("resources released by a failed bind go to waiting pods", "[scheduler]") {
  auto& answers = elsewhere::answers;
  answers.clear();
  cluster c{11, with_elsewhere()};
  add_small_node(c, "n1", 2);
  c.create(pod_elsewhere("own", 2));
  c.settle();
  c.create(important("boss", 2, "system-cluster-critical"));
  c.advance(seconds{5});
  CHECK(node_of(c, "boss").empty());
  REQUIRE(answers.size() == 1);
  answers[0](api::fail(api::internal("not today")));
  c.settle();
  CHECK(node_of(c, "boss") == "n1");
  answers.clear();
}

TEST_CASE("a foreign scheduler binds its own pods beside ours", "[scheduler]") {
  cluster c{2};
  add_small_node(c, "n1", 4);
  auto foreign = asking("foreign", 3);
  foreign.mutable_spec()->set_scheduler_name("somebody");
  c.create(foreign);
  c.advance(seconds{120});
  CHECK(node_of(c, "foreign").empty());
  bool bound = false;
  c.plane().bind({api::kind_of<Pod>().key("default", "foreign"), {}, "n1"}, 1,
                 [&](const auto& result) { bound = result.has_value(); });
  c.settle();
  CHECK(bound);
  renew_lease(c, "n1");
  post_ready(c, "n1", "True");
  c.create(asking("too-big", 2));
  c.create(asking("fits", 1));
  c.advance(seconds{5});
  CHECK(node_of(c, "fits") == "n1");
  CHECK(node_of(c, "too-big").empty());
  const auto pod = c.get<Pod>("default", "too-big");
  const auto* condition = find_condition(pod.status().conditions(), "PodScheduled");
  REQUIRE(condition != nullptr);
  CHECK(condition->reason() == "Unschedulable");
  CHECK_THAT(condition->message(),
             Catch::StartsWith("0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes "
                               "are available: 1 No preemption victims found for incoming pod."));
}

TEST_CASE("a pod that never preempts says so when there is no room for it", "[scheduler]") {
  cluster c{5};
  add_small_node(c, "n1", 2);
  c.create(asking("there", 2));
  c.settle();
  c.create_yaml(
      "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: polite}, value: 5, "
      "preemptionPolicy: Never}");
  c.create(important("polite", 1, "polite"));
  c.settle();
  CHECK_FALSE(leaves(c, "there"));
  const auto pod = c.get<Pod>("default", "polite");
  const auto* condition = find_condition(pod.status().conditions(), "PodScheduled");
  REQUIRE(condition != nullptr);
  CHECK(condition->message() ==
        "0/1 nodes are available: 1 Insufficient cpu. preemption: not eligible due to "
        "preemptionPolicy=Never.");
}

TEST_CASE("a preemption evicts few pods, and no more while the pod waits", "[scheduler]") {
  cluster c{3};
  add_small_node(c, "n1", 2);
  add_small_node(c, "n2", 2);
  for (const char* pod : {"a", "b", "c", "d"})
    c.create(asking(pod, 1));
  c.settle();
  c.create(important("boss", 1, "system-cluster-critical"));
  c.settle();
  const auto waiting = c.get<Pod>("default", "boss");
  const auto& nominated = waiting.status().nominated_node_name();
  CHECK(waiting.spec().node_name().empty());
  REQUIRE_FALSE(nominated.empty());
  CHECK(told(c, "Preempted") == 1);
  // Events that may wake it while its victim still exists.
  for (int i = 0; i < 3; ++i) {
    c.change<Node>({}, "n1", [&](Node& node) {
      (*node.mutable_metadata()->mutable_labels())["news"] = std::to_string(i);
    });
    c.advance(seconds{2});
  }
  CHECK(told(c, "Preempted") == 1);
  int leaving = 0;
  for (const char* pod : {"a", "b", "c", "d"}) {
    if (!leaves(c, pod)) continue;
    ++leaving;
    CHECK(node_of(c, pod) == nominated);
    const auto victim = c.get<Pod>("default", pod);
    const auto* disruption = find_condition(victim.status().conditions(), "DisruptionTarget");
    REQUIRE(disruption != nullptr);
    CHECK(disruption->reason() == "PreemptionByScheduler");
  }
  CHECK(leaving == 1);
  run_kubelets(c);
  c.settle();  // no time passes
  CHECK(node_of(c, "boss") == nominated);
}

TEST_CASE("room nominated for a pod is not given to a pod of equal priority", "[scheduler]") {
  cluster c{4};
  add_small_node(c, "n1", 2);
  c.create(asking("old", 2));
  c.settle();
  c.create(important("boss", 2, "system-cluster-critical"));
  c.settle();
  REQUIRE(leaves(c, "old"));
  c.create(important("rival", 2, "system-cluster-critical"));
  c.settle();
  run_kubelets(c);
  c.settle();
  CHECK(node_of(c, "boss") == "n1");
  CHECK(node_of(c, "rival").empty());
}

TEST_CASE("room nominated for a pod is taken by a pod of higher priority", "[scheduler]") {
  cluster c{5};
  add_small_node(c, "n1", 2);
  c.create(asking("old", 2));
  c.settle();
  c.create(important("boss", 2, "system-cluster-critical"));
  c.settle();
  REQUIRE(leaves(c, "old"));
  c.create(important("king", 2, "system-node-critical"));
  c.settle();
  CHECK(c.get<Pod>("default", "king").status().nominated_node_name() == "n1");
  run_kubelets(c);
  c.settle();
  CHECK(node_of(c, "king") == "n1");
  CHECK(node_of(c, "boss").empty());
  CHECK(c.get<Pod>("default", "boss").status().nominated_node_name().empty());
}

TEST_CASE("nominated room is kept through a crash of the scheduler", "[scheduler]") {
  cluster c{6};
  add_small_node(c, "n1", 2);
  c.create(asking("old", 2));
  c.settle();
  c.create(important("boss", 2, "system-cluster-critical"));
  c.settle();
  REQUIRE(leaves(c, "old"));
  c.crash("scheduler", "default-scheduler");
  c.create(asking("small", 1));
  c.advance(seconds{2});
  run_kubelets(c);
  c.settle();
  CHECK(node_of(c, "boss") == "n1");
  CHECK(node_of(c, "small").empty());
  CHECK(told(c, "Preempted") == 1);
}

TEST_CASE("a preemption whose evictions are refused is repeated with back-off", "[scheduler]") {
  const auto step = std::make_shared<no_evictions>();
  cluster_options options;
  options.plane.external = {step};
  cluster c{7, options};
  add_small_node(c, "n1", 2);
  c.create(asking("old", 2));
  c.settle();
  c.create(important("boss", 2, "system-cluster-critical"));
  c.advance(seconds{20});
  CHECK(step->asked >= 3);
  CHECK(step->asked <= 6);  // after 0, 1, 3, 7 and 15 s
}

TEST_CASE("a pod that waits for its topology is tried when a node is removed", "[scheduler]") {
  cluster c{8};
  add_small_node(c, "n1", 8);
  add_small_node(c, "n2", 1);
  for (const char* node : {"n1", "n2"})
    c.change<Node>({}, node, [&](Node& changed) {
      (*changed.mutable_metadata()->mutable_labels())["zone"] = node;
    });
  for (const char* name : {"a", "b"}) {
    auto pod = asking(name, 2);
    (*pod.mutable_metadata()->mutable_labels())["app"] = "web";
    auto& constraint = *pod.mutable_spec()->add_topology_spread_constraints();
    constraint.set_max_skew(1);
    constraint.set_topology_key("zone");
    constraint.set_when_unsatisfiable("DoNotSchedule");
    (*constraint.mutable_label_selector()->mutable_match_labels())["app"] = "web";
    c.create(pod);
    c.settle();
  }
  REQUIRE(node_of(c, "a") == "n1");
  REQUIRE(node_of(c, "b").empty());
  c.advance(seconds{15});  // longer than its back-off
  c.remove<Node>({}, "n2");
  c.settle();
  CHECK(node_of(c, "b") == "n1");
}

}  // namespace troupe::test
