// Simulated minions in a simulated cluster.
#include <catch2/catch.hpp>

#include "actors/condition.hpp"
#include "actors/kubelet/simulated_fleet.hpp"
#include "actors/replication/pod_record.hpp"
#include "support/workloads.hpp"

namespace troupe::test {

using actors::replication::read_pod;
using api::apps::v1::ReplicaSet;
using api::core::v1::Node;
using api::core::v1::Pod;
using std::chrono::seconds;

namespace {

std::size_t ready_pods(const cluster& c) {
  std::size_t ready = 0;
  for (const auto& pod : c.list<Pod>())
    ready += read_pod(pod).ready ? 1 : 0;
  return ready;
}

}  // namespace

TEST_CASE("the pods of a node that was silent are ready again when it comes back") {
  cluster c{1};
  actors::simulated_fleet_options one;
  one.nodes = 1;
  const auto fleet = actors::spawn_simulated_fleet(c.simulation().system(), c.plane().doors(), one);
  c.create(replica_set("web", 3, {{"app", "web"}}));
  REQUIRE(c.run_until([&] { return ready_pods(c) == 3; }));
  c.simulation().faults({.crash = 1, .delay = 0, .may_crash = [](const auto& kind, const auto&) {
                           return kind == "simulated-minion";
                         }});
  REQUIRE(c.run_until([&] { return ready_pods(c) == 0; }, seconds{120}));
  c.simulation().faults({});
  CHECK(c.run_until([&] { return ready_pods(c) == 3; }, seconds{60}));
  CHECK(c.count<Pod>() == 3);
  c.simulation().system().stop(fleet);
}

}  // namespace troupe::test
