// Simulated nodes that fail and return.
#include "actors/kubelet/simulated/node_behavior.hpp"

#include <catch2/catch.hpp>

#include "actors/core/pod_health.hpp"
#include "actors/kubelet/simulated/simulated_fleet.hpp"
#include "actors/nodes/node_rules.hpp"
#include "support/nodes.hpp"
#include "support/workloads.hpp"

namespace troupe::test {

using api::core::v1::Node;
using api::core::v1::Pod;
using std::chrono::minutes;
using std::chrono::seconds;

namespace {

constexpr std::int64_t created = 1'000'000;

runtime::wall_time after_creation(std::int64_t later) {
  return runtime::wall_time{seconds{created + later}};
}

void annotate(Node& node, const std::string& name, const std::string& value) {
  (*node.mutable_metadata()->mutable_annotations())["simulation.troupe.dev/" + name] = value;
}

Node annotated(const std::map<std::string, std::string>& all) {
  Node node;
  node.mutable_metadata()->set_name("n1");
  node.mutable_metadata()->set_uid("u");
  node.mutable_metadata()->mutable_creation_timestamp()->set_seconds(created);
  for (const auto& [name, value] : all)
    annotate(node, name, value);
  return node;
}

bool down(const Node& node, std::int64_t later) {
  return actors::state_of(node, after_creation(later)).down;
}

}  // namespace

TEST_CASE("a simulated node is down while its annotation says so, or periodically",
          "[simulation]") {
  CHECK_FALSE(down(annotated({}), 0));
  CHECK(down(annotated({{"down", "true"}}), 0));
  CHECK_FALSE(down(annotated({{"down", "no"}}), 0));
  const auto for_ever = annotated({{"fail-after", "10m"}});
  CHECK_FALSE(down(for_ever, 599));
  CHECK(down(for_ever, 600));
  CHECK(down(for_ever, 100'000));
  const auto by_turns = annotated({{"fail-after", "10m"}, {"return-after", "2m"}});
  CHECK_FALSE(down(by_turns, 599));
  CHECK(down(by_turns, 719));
  CHECK_FALSE(down(by_turns, 720));
  CHECK(down(by_turns, 720 + 600));
  CHECK(actors::state_of(by_turns, after_creation(0)).until == after_creation(600));
  CHECK(actors::state_of(by_turns, after_creation(700)).until == after_creation(720));
  // A cycle of length 0, and invalid values.
  CHECK_FALSE(down(annotated({{"fail-after", "0s"}, {"return-after", "0s"}}), 5));
  CHECK_FALSE(down(annotated({{"fail-after", "soon"}}), 5));
  auto jittered = annotated({{"fail-after", "10m"}, {"jitter", "1"}});
  CHECK_FALSE(down(jittered, 600));
  CHECK(down(jittered, 1200));
}

TEST_CASE("the pods of a simulated node that fails are replaced, and end when it returns",
          "[simulation]") {
  cluster c{1};
  actors::simulated_fleet_options two;
  two.nodes = 2;
  const auto fleet =
      actors::spawn_simulated_fleet(c.simulation().system(), c.plane().core_actors(), two);
  c.create(replica_set("web", 4, {{"app", "web"}}));
  const auto ready = [&] {
    std::size_t count = 0;
    for (const auto& pod : c.list<Pod>())
      count += actors::is_ready(pod->as<Pod>()) && !pod->meta().has_deletion_timestamp();
    return count;
  };
  REQUIRE(c.run_until([&] { return ready() == 4; }));
  const std::string victim = "simulated-0000";
  c.change<Node>({}, victim, [](Node& node) { annotate(node, "down", "true"); });
  const auto readiness = [&] { return actors::readiness_of(c.get<Node>({}, victim)); };
  REQUIRE(c.run_until([&] { return readiness() == actors::readiness::unknown; }, minutes{2}));
  REQUIRE(c.run_until([&] { return ready() == 4; }, minutes{10}));
  CHECK(c.count<Pod>() > 4);  // evicted pods are not terminated by anyone
  c.change<Node>({}, victim, [](Node& node) { node.mutable_metadata()->clear_annotations(); });
  REQUIRE(c.run_until([&] { return readiness() == actors::readiness::ready; }, minutes{1}));
  CHECK(c.run_until([&] { return c.count<Pod>() == 4; }, minutes{1}));
  CHECK(ready() == 4);
  c.simulation().system().stop(fleet);
}

}  // namespace troupe::test
