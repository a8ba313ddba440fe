// Simulated minions in a simulated cluster.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "actors/controllers/replication/pod_record.hpp"
#include "actors/core/condition.hpp"
#include "actors/kubelet/pods/pod_env.hpp"
#include "actors/kubelet/simulated/address_pool.hpp"
#include "actors/kubelet/simulated/simulated_fleet.hpp"
#include "api/schema/coordination_v1.pb.h"
#include "support/nodes.hpp"
#include "support/workloads.hpp"

namespace troupe::test {

using actors::replication::read_pod;
using api::apps::v1::ReplicaSet;
using api::coordination::v1::Lease;
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

std::multiset<std::string> addresses_of_pods(const cluster& c) {
  std::multiset<std::string> all;
  for (const auto& pod : c.list<Pod>())
    all.insert(pod->as<Pod>().status().pod_ip());
  return all;
}

std::size_t different(const std::multiset<std::string>& addresses) {
  return std::set<std::string>{addresses.begin(), addresses.end()}.size();
}

}  // namespace

TEST_CASE("the pods of a node that was silent are ready again when it comes back") {
  cluster c{1};
  actors::simulated_fleet_options one;
  one.nodes = 1;
  const auto fleet =
      actors::spawn_simulated_fleet(c.simulation().system(), c.plane().core_actors(), one);
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

TEST_CASE("a simulated node that restarts gives no pod the address of another one") {
  cluster c{1};
  actors::simulated_fleet_options one;
  one.nodes = 1;
  auto& system = c.simulation().system();
  auto fleet = actors::spawn_simulated_fleet(system, c.plane().core_actors(), one);
  c.create(replica_set("web", 3, {{"app", "web"}}));
  REQUIRE(c.run_until([&] { return ready_pods(c) == 3; }));
  const auto before = addresses_of_pods(c);
  CHECK(different(before) == 3);
  system.stop(fleet);
  c.settle();

  INFO("pods that are bound while it is away come in its initial state, before others by name");
  c.create(replica_set("any", 2, {{"app", "any"}}));
  c.settle();
  fleet = actors::spawn_simulated_fleet(system, c.plane().core_actors(), one);
  c.change<ReplicaSet>("default", "web", [](ReplicaSet& r) { r.mutable_spec()->set_replicas(5); });
  REQUIRE(c.run_until([&] { return ready_pods(c) == 7; }));
  const auto after = addresses_of_pods(c);
  CHECK(different(after) == 7);
  CHECK(std::includes(after.begin(), after.end(), before.begin(), before.end()));
  system.stop(fleet);
}

TEST_CASE("an address is given again when its pod has ended, after all others") {
  actors::address_pool pool;
  for (int i = 1; i <= actors::address_pool::size; ++i) {
    REQUIRE(pool.next() == i);
    if (i != 7) pool.keep("pod-" + std::to_string(i), i);
  }
  CHECK(pool.next() == 7);
  pool.keep("pod-7", 7);
  pool.release("pod-3", 3);
  pool.release("pod-200", 200);
  pool.release("another", 5);
  CHECK(pool.next() == 200);
  CHECK(pool.next() == 3);

  INFO("two pods that share one of before");
  pool.keep("pod-3", 9);
  pool.release("pod-9", 9);
  CHECK(pool.next() == 200);
  CHECK(pool.next() == 3);
  pool.keep("pod-9", 3);
  pool.keep("pod-200", 200);

  INFO("none is left");
  CHECK(pool.next() == 4);
  CHECK(pool.next() == 5);
}

TEST_CASE("the lease of a node is its Node's, and goes with it") {
  cluster c{1};
  actors::simulated_fleet_options one;
  one.nodes = 1;
  const auto fleet =
      actors::spawn_simulated_fleet(c.simulation().system(), c.plane().core_actors(), one);
  const auto leases = [&] { return c.list<Lease>("kube-node-lease"); };
  REQUIRE(c.run_until([&] { return leases().size() == 1; }));
  const auto name = leases().front()->meta().name();
  REQUIRE(leases().front()->meta().owner_references_size() == 1);
  CHECK(leases().front()->meta().owner_references(0).uid() == c.find<Node>({}, name)->meta().uid());
  // A minion that is removed and created again has a Lease again.
  const auto uid = leases().front()->meta().uid();
  c.remove<Node>({}, name);
  REQUIRE(c.run_until([&] { return leases().size() == 1 && leases()[0]->meta().uid() != uid; }));
  CHECK(leases().front()->meta().owner_references(0).uid() == c.find<Node>({}, name)->meta().uid());
  c.simulation().system().stop(fleet);
  c.settle();  // its minions end after it, and one whose Node is deleted creates it again
  c.remove<Node>({}, name);
  CHECK(c.run_until([&] { return leases().empty(); }));
}

TEST_CASE("nodes that began together report in the course of a period, not in one instant") {
  cluster c{1};
  actors::simulated_fleet_options many;
  many.nodes = 50;
  const auto fleet =
      actors::spawn_simulated_fleet(c.simulation().system(), c.plane().core_actors(), many);
  REQUIRE(c.run_until([&] { return c.count<Node>() == 50; }));
  c.advance(seconds{60});
  c.advance(actors::kubelet_defaults::node_report_period);
  std::set<std::int64_t> reported;
  for (const auto& node : c.list<Node>())
    reported.insert(actors::find_condition(node->as<Node>().status().conditions(), "Ready")
                        ->last_heartbeat_time()
                        .seconds());
  CHECK(reported.size() > 25);
  CHECK(*reported.rbegin() - *reported.begin() > 100);
  c.simulation().system().stop(fleet);
}

TEST_CASE("the label of a node with a long name is one that a label may be") {
  CHECK(actors::as_label("n1") == "n1");
  CHECK(actors::as_label(std::string(63, 'a') + "b") == std::string(63, 'a'));
  CHECK(actors::as_label(std::string(61, 'a') + ".-.b") == std::string(61, 'a'));
}

TEST_CASE("a pod with a finalizer stays on a simulated node until the finalizer is gone") {
  cluster c{1};
  actors::simulated_fleet_options one;
  one.nodes = 1;
  const auto fleet =
      actors::spawn_simulated_fleet(c.simulation().system(), c.plane().core_actors(), one);
  auto pod = pod_named("web");
  pod.mutable_metadata()->add_finalizers("example.com/kept");
  c.create(pod);
  const auto running = [&] {
    return c.find<Pod>("default", "web")->as<Pod>().status().phase() == "Running";
  };
  REQUIRE(c.run_until(running));
  c.remove<Pod>("default", "web");
  const auto ended = [&] {
    const auto found = c.find<Pod>("default", "web");
    return !found || found->meta().deletion_grace_period_seconds() == 0;
  };
  REQUIRE(c.run_until(ended));
  c.advance(seconds{60});
  REQUIRE(c.find<Pod>("default", "web"));
  c.change<Pod>("default", "web", [](Pod& p) { p.mutable_metadata()->clear_finalizers(); });
  CHECK(c.run_until([&] { return !c.find<Pod>("default", "web"); }));
  c.simulation().system().stop(fleet);
}

TEST_CASE("a simulated node reports its last heartbeat, and its capacity in canonical form") {
  cluster c{1};
  actors::simulated_fleet_options one;
  one.nodes = 1;
  const auto fleet =
      actors::spawn_simulated_fleet(c.simulation().system(), c.plane().core_actors(), one);
  REQUIRE(c.run_until([&] { return c.count<Node>() == 1; }));
  const auto node = [&] { return c.list<Node>().front(); };
  const auto heartbeat = [&] {
    return actors::find_condition(node()->as<Node>().status().conditions(), "Ready")
        ->last_heartbeat_time()
        .seconds();
  };
  CHECK(node()->as<Node>().status().capacity().at("memory").string() == "256Gi");
  const auto first = heartbeat();
  CHECK(first > 0);
  CHECK(c.run_until([&] { return heartbeat() > first; }, seconds{700}));

  INFO("what is added to its capacity can be used, and no longer when it is gone");
  c.change<Node>({}, node()->meta().name(), [](Node& n) {
    (*n.mutable_status()->mutable_capacity())["example.com/dongle"].set_string("4");
  });
  const auto dongles = [&] {
    return node()->as<Node>().status().allocatable().count("example.com/dongle");
  };
  CHECK(c.run_until([&] { return dongles() == 1; }));
  c.change<Node>({}, node()->meta().name(), [](Node& n) {
    n.mutable_status()->mutable_capacity()->erase("example.com/dongle");
  });
  CHECK(c.run_until([&] { return dongles() == 0; }));
  c.simulation().system().stop(fleet);
}

TEST_CASE("a simulated pod ends at its deadline") {
  cluster c{1};
  actors::simulated_fleet_options one;
  one.nodes = 1;
  const auto fleet =
      actors::spawn_simulated_fleet(c.simulation().system(), c.plane().core_actors(), one);
  auto pod = pod_named("batch");
  pod.mutable_spec()->set_active_deadline_seconds(30);
  c.create(pod);
  const auto status = [&] { return c.find<Pod>("default", "batch")->as<Pod>().status(); };
  REQUIRE(c.run_until([&] { return status().phase() == "Running"; }));
  c.advance(seconds{25});
  CHECK(status().phase() == "Running");
  REQUIRE(c.run_until([&] { return status().phase() == "Failed"; }, seconds{20}));
  CHECK(status().reason() == "DeadlineExceeded");
  CHECK(status().container_statuses(0).state().terminated().exit_code() == 137);
  c.simulation().system().stop(fleet);
}

}  // namespace troupe::test
