// SimulationPolicy: the effects of its stages on pods and nodes, and refused policies.
#include "actors/simulation/policy.hpp"

#include <catch2/catch.hpp>
#include <random>

#include "actors/kubelet/simulated/node_behavior.hpp"
#include "actors/kubelet/simulated/pod_behavior.hpp"
#include "actors/kubelet/simulated/simulated_fleet.hpp"
#include "actors/usage/simulated_usage.hpp"
#include "api/schema/batch_v1.pb.h"
#include "support/nodes.hpp"
#include "support/seeds.hpp"
#include "support/workloads.hpp"

namespace troupe::test {

using actors::simulated::policy;
using actors::simulated::policy_ptr;
using api::core::v1::Node;
using api::core::v1::Pod;
using std::chrono::minutes;
using std::chrono::seconds;

namespace {

const std::string head = "apiVersion: simulation.troupe.dev/v1alpha1\nkind: SimulationPolicy\n";

policy_ptr policy_of(const std::string& stages) {
  auto made = policy::parse(head + "stages:\n" + stages);
  if (!made) FAIL(made.error().front());
  return *made;
}

std::vector<std::string> refused(const std::string& stages) {
  const auto made = policy::parse(head + "stages:\n" + stages);
  return made ? std::vector<std::string>{} : made.error();
}

Pod labelled(const std::string& name, const std::string& app) {
  auto pod = pod_named(name, "n1");
  pod.mutable_metadata()->set_uid(name + "-uid");
  (*pod.mutable_metadata()->mutable_labels())["app"] = app;
  return pod;
}

void annotate(Pod& pod, const std::string& name, const std::string& value) {
  (*pod.mutable_metadata()->mutable_annotations())["simulation.troupe.dev/" + name] = value;
}

const std::string batch = R"(
- {name: slow, selector: {kind: Pod, phase: Pending, matchLabels: {app: batch}}, delay: 5s, jitter: 0.5, next: {start: {}}}
- {name: late, selector: {kind: Pod, matchLabels: {app: batch}}, delay: 3s, next: {ready: {}}}
- {name: fails, selector: {kind: Pod, matchLabels: {app: batch}, matchAnnotations: {fate: bad}}, delay: 20s, next: {fail: {exitCode: 3, message: no disk}}}
- {name: ends, selector: {kind: Pod, matchExpressions: [{key: app, operator: In, values: [batch, other]}]}, delay: 30s, next: {complete: {}}}
)";

}  // namespace

TEST_CASE("the first stage of a policy that fits decides, annotations override it",
          "[simulated][simulation-policy]") {
  const auto given = policy_of(batch);
  auto pod = labelled("p", "batch");
  auto behavior = actors::behavior_of(pod, given.get());
  REQUIRE(behavior);
  CHECK(behavior->start_delay.time == seconds{5});
  CHECK(behavior->start_delay.jitter == 0.5);
  CHECK(behavior->ready_delay.time == seconds{3});
  CHECK(behavior->ready_delay.jitter == 0);
  CHECK(behavior->run_time->time == seconds{30});
  CHECK(behavior->exit_code == 0);

  (*pod.mutable_metadata()->mutable_annotations())["fate"] = "bad";
  behavior = actors::behavior_of(pod, given.get());
  CHECK(behavior->run_time->time == seconds{20});
  CHECK(behavior->exit_code == 3);
  CHECK(behavior->termination_message == "no disk");

  annotate(pod, "start-delay", "1s");
  annotate(pod, "exit-code", "7");
  annotate(pod, "run-time", "soon");  // invalid
  behavior = actors::behavior_of(pod, given.get());
  CHECK(behavior->start_delay.time == seconds{1});
  CHECK(behavior->start_delay.jitter == 0);
  CHECK(behavior->exit_code == 7);
  CHECK(behavior->run_time->time == seconds{20});
  annotate(pod, "jitter", "2");
  CHECK(actors::behavior_of(pod, given.get())->ready_delay.jitter == 2);

  CHECK(actors::behavior_of(labelled("q", "other"), given.get())->start_delay.time.count() == 0);
  CHECK_FALSE(actors::behavior_of(labelled("q", "web"), given.get()));
}

TEST_CASE("a stage applies to its share of the pods, always the same ones",
          "[simulated][simulation-policy]") {
  const auto given = policy_of(
      "- {name: unlucky, selector: {kind: Pod, share: 0.2}, delay: 1s, next: {crash: {times: 2}}}");
  int unlucky = 0;
  for (int i = 0; i < 1000; ++i) {
    const auto pod = labelled("p" + std::to_string(i), "web");
    const auto behavior = actors::behavior_of(pod, given.get());
    if (!behavior) continue;
    ++unlucky;
    CHECK(behavior->failures == 2);
    CHECK(actors::behavior_of(pod, given.get()).has_value());
  }
  CHECK(unlucky > 150);
  CHECK(unlucky < 250);
}

TEST_CASE("a Job on simulated nodes runs as a policy says, from any seed",
          "[simulated][simulation-policy]") {
  for_each_seed(10, [](std::uint64_t seed) {
    const auto ends = [&] {
      cluster c{seed};
      actors::simulated_fleet_options fleet;
      fleet.nodes = 2;
      fleet.like.policy = policy_of(R"(
- {name: slow, selector: {kind: Pod, namespaces: [default]}, delay: 2s, jitter: 1, next: {start: {}}}
- {name: crash-once, selector: {kind: Pod}, delay: 10s, jitter: 1, next: {crash: {times: 1, exitCode: 4}}}
)");
      actors::spawn_simulated_fleet(c.simulation().system(), c.plane().core_actors(), fleet);
      c.settle();
      c.create_yaml(R"(
apiVersion: batch/v1
kind: Job
metadata: {name: work}
spec:
  completions: 4
  parallelism: 4
  template:
    spec:
      restartPolicy: OnFailure
      containers: [{name: c, image: any}]
)");
      REQUIRE(c.run_until(
          [&] { return c.get<api::batch::v1::Job>("default", "work").status().succeeded() == 4; },
          minutes{3}));
      std::vector<std::int64_t> times;
      for (const auto& each : c.list<Pod>()) {
        const auto& container = each->as<Pod>().status().container_statuses(0);
        CHECK(container.restart_count() == 1);
        CHECK(container.last_state().terminated().exit_code() == 4);
        CHECK(container.state().terminated().exit_code() == 0);
        times.push_back(container.state().terminated().finished_at().seconds());
      }
      return times;
    };
    CHECK(ends() == ends());
  });
}

TEST_CASE("nodes fail and return as a policy says", "[simulated][simulation-policy]") {
  const auto given = policy_of(R"(
- {name: off, selector: {kind: Node, phase: Ready, matchLabels: {zone: a}}, delay: 10m, next: {goDown: {}}}
- {name: back, selector: {kind: Node, phase: NotReady}, delay: 2m, next: {comeBack: {}}}
)");
  Node node;
  node.mutable_metadata()->set_uid("u");
  node.mutable_metadata()->mutable_creation_timestamp()->set_seconds(1'000'000);
  const auto down = [&](std::int64_t later) {
    return actors::state_of(node, runtime::wall_time{seconds{1'000'000 + later}}, given.get()).down;
  };
  CHECK_FALSE(down(700));
  (*node.mutable_metadata()->mutable_labels())["zone"] = "a";
  CHECK_FALSE(down(599));
  CHECK(down(601));
  CHECK_FALSE(down(721));
  CHECK(down(1321));
}

TEST_CASE("pods use the resources that a policy specifies", "[simulated][simulation-policy]") {
  cluster c{3};
  const auto given = policy_of(R"(
- {name: load, selector: {kind: Pod, matchLabels: {app: web}}, next: {use: {cpu: "0s=1,10m=250m", memory: 64Mi}}}
)");
  actors::simulated_fleet_options fleet;
  fleet.prefix = "n";
  fleet.like.policy = given;
  actors::spawn_simulated_fleet(c.simulation().system(), c.plane().core_actors(), fleet);
  c.settle();
  c.create(labelled("idle", "db"));
  auto web = labelled("web", "web");
  web.mutable_spec()->clear_node_name();
  c.create(web);
  REQUIRE(c.run_until([&] { return c.get<Pod>("default", "web").status().phase() == "Running"; }));
  const auto node = c.get<Pod>("default", "web").spec().node_name();
  const auto used = [&] {
    return actors::simulated_usage(c.store().read(), {node}, c.now(), given.get()).at(node);
  };
  CHECK(used().machine->cpu_nano == 1'000'000'000);
  CHECK(used().containers.size() == 1);
  CHECK(used().containers.front().figure.memory_bytes == 64u << 20);
  c.advance(minutes{11});
  CHECK(used().machine->cpu_nano == 250'000'000);
  CHECK(actors::simulated_usage(c.store().read(), {node}, c.now()).empty());
}

TEST_CASE("an invalid policy is refused with its paths", "[simulation-policy]") {
  using lines = std::vector<std::string>;
  const auto one = [](const std::string& stage) { return refused("- {name: s, " + stage + "}\n"); };
  CHECK(one("selector: {kind: Pod}, next: {}") ==
        lines{"stages[0].next: must be one of start, ready, complete, fail, crash, use, goDown, "
              "comeBack"});
  CHECK(one("selector: {kind: Pod}, next: {start: {}, ready: {}}").size() == 1);
  CHECK(one("selector: {kind: Pod}, next: {starts: {}}").front() ==
        "stages[0].next.starts: unknown field; did you mean start?");
  CHECK(one("selector: {kind: Node}, next: {start: {}}") ==
        lines{"stages[0].selector.kind: must be Pod: start happens to it"});
  CHECK(one("selector: {kind: Pod, phase: Running}, next: {start: {}}") ==
        lines{"stages[0].selector.phase: must be Pending: start happens in it"});
  CHECK(one("selector: {kind: Node, namespaces: [a]}, next: {goDown: {}}").size() == 1);
  CHECK(one("selector: {kind: Pod, share: 1.5}, next: {start: {}}") ==
        lines{"stages[0].selector.share: must be from 0 to 1"});
  CHECK(one("selector: {kind: Pod}, delay: soon, next: {start: {}}") ==
        lines{"stages[0].delay: \"soon\" is not a time such as 500ms or 1m30s"});
  CHECK(one("selector: {kind: Pod}, delay: 1s, jitter: -1, next: {start: {}}").size() == 1);
  CHECK(one("selector: {kind: Pod}, delay: 1s, next: {use: {cpu: 1}}").size() == 1);
  CHECK(one("selector: {kind: Pod}, next: {use: {cpu: much}}") ==
        lines{"stages[0].next.use.cpu: \"much\" is not an amount such as 250m or 0s=1,10m=4"});
  CHECK(one("selector: {kind: Pod}, next: {fail: {exitCode: 256}}").size() == 1);
  CHECK(one("selector: {kind: Pod, matchExpressions: [{key: a, operator: In}]}, next: {start: {}}")
            .size() == 1);
  CHECK(one("selector: {kind: Cat}, next: {start: {}}").size() == 1);
  const std::string fine = "- {name: s, selector: {kind: Pod}, next: {start: {}}}\n";
  CHECK(refused(fine + fine) == lines{"stages[1].name: another stage has it already"});
  std::string many;
  for (int i = 0; i < 257; ++i)
    many += "- {name: s" + std::to_string(i) + ", selector: {kind: Pod}, next: {start: {}}}\n";
  CHECK(refused(many) == lines{"stages: there may be 256 at most"});
}

TEST_CASE("a damaged policy is accepted or refused with a message", "[simulation-policy]") {
  const auto whole = head + "stages:" + batch;
  int refusals = 0;
  for_each_seed(300, [&](std::uint64_t seed) {
    std::mt19937_64 random{seed};
    auto text = whole;
    for (auto changes = 1 + random() % 3; changes > 0; --changes) {
      const auto place = random() % text.size();
      if (random() % 2 == 0)
        text.erase(place, 1 + random() % 8);
      else
        text[place] = static_cast<char>(random() % 256);
    }
    const auto made = policy::parse(text);
    if (made) {
      static_cast<void>(actors::behavior_of(labelled("p", "batch"), made->get()));
    } else {
      ++refusals;
      REQUIRE_FALSE(made.error().empty());
    }
  });
  if (std::getenv("TROUPE_SEED") == nullptr) CHECK(refusals > 100);
}

}  // namespace troupe::test
