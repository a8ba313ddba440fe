#include "actors/nodes/minions.hpp"

#include <catch2/catch.hpp>
#include <set>

#include "actors/core/condition.hpp"
#include "actors/nodes/node_rules.hpp"
#include "actors/nodes/zones.hpp"
#include "api/schema/core_event.pb.h"
#include "support/cluster.hpp"
#include "support/nodes.hpp"

namespace troupe::test {

using actors::corrected;
using actors::zone_count;
using api::core::v1::Node;
using api::core::v1::Pod;
using std::chrono::minutes;
using std::chrono::seconds;

namespace {

const runtime::wall_time noon{seconds{1'700'000'000}};

Node with_ready(const std::string& status) {
  Node node;
  node.mutable_metadata()->set_name("n");
  auto& ready = *node.mutable_status()->add_conditions();
  ready.set_type("Ready");
  ready.set_status(status);
  return node;
}

// "key:Effect" of each taint, in order.
std::vector<std::string> taints_of(const Node& node) {
  std::vector<std::string> all;
  for (const auto& each : node.spec().taints()) {
    all.push_back(each.key().substr(each.key().find('/') + 1) + ":" + each.effect());
  }
  return all;
}

using list = std::vector<std::string>;

std::string ready_of(cluster& c, const std::string& name) {
  const auto node = c.get<Node>({}, name);
  const auto* found = actors::find_condition(node.status().conditions(), "Ready");
  return found == nullptr ? "" : found->status();
}

list taints_in(cluster& c, const std::string& name) {
  return taints_of(c.get<Node>({}, name));
}

bool sent_away(cluster& c, const std::string& name) {
  return actors::has_eviction_taint(c.get<Node>({}, name));
}

}  // namespace

// -- the rules ------------------------------------------------------------------------------------

TEST_CASE("a silent node's conditions become unknown, and it is unreachable") {
  const auto lost = corrected(with_ready("True"), {.silent = true}, noon);
  REQUIRE(lost);
  CHECK(taints_of(*lost) == list{"unreachable:NoSchedule"});
  const auto* ready = actors::find_condition(lost->status().conditions(), "Ready");
  CHECK(ready->status() == "Unknown");
  CHECK(ready->reason() == "NodeStatusUnknown");
  CHECK(ready->message() == "Kubelet stopped posting node status.");
  const auto* memory = actors::find_condition(lost->status().conditions(), "MemoryPressure");
  REQUIRE(memory != nullptr);
  CHECK(memory->reason() == "NodeStatusNeverUpdated");
  CHECK(corrected(*lost, {.silent = true}, noon) == nullptr);
}

TEST_CASE("taints follow the conditions, and other taints stay") {
  auto node = with_ready("False");
  auto& own = *node.mutable_spec()->add_taints();
  own.set_key("example.com/mine");
  own.set_effect("NoExecute");
  const auto down = corrected(node, {.may_evict = true}, noon);
  REQUIRE(down);
  CHECK(taints_of(*down) == list{"mine:NoExecute", "not-ready:NoSchedule", "not-ready:NoExecute"});

  auto back = *down;
  back.mutable_status()->mutable_conditions(0)->set_status("True");
  back.mutable_spec()->set_unschedulable(true);
  auto& disk = *back.mutable_status()->add_conditions();
  disk.set_type("DiskPressure");
  disk.set_status("True");
  const auto up = corrected(back, {}, noon);
  REQUIRE(up);
  CHECK(taints_of(*up) ==
        list{"mine:NoExecute", "disk-pressure:NoSchedule", "unschedulable:NoSchedule"});
}

TEST_CASE("a node whose own kubelet finds its network incomplete still gets pods") {
  auto node = with_ready("True");
  auto& network = *node.mutable_status()->add_conditions();
  network.set_type("NetworkUnavailable");
  network.set_status("True");
  network.set_reason("CalicoIsDown");
  const auto down = corrected(node, {}, noon);
  REQUIRE(down);
  CHECK(taints_of(*down) == list{"network-unavailable:NoSchedule"});
  auto ours = *down;
  ours.mutable_status()->mutable_conditions(1)->set_reason("PodNetworkHasProblems");
  const auto up = corrected(ours, {}, noon);
  REQUIRE(up);
  CHECK(taints_of(*up).empty());
}

TEST_CASE("pods are evicted slowly when much of a zone fails") {
  CHECK(actors::eviction_rate({10, 1}) == 0.1);
  CHECK(actors::eviction_rate({10, 2}) == 0.1);
  CHECK(actors::eviction_rate({40, 60}) == 0.01);  // 60 % of a large zone
  CHECK(actors::eviction_rate({4, 6}) == 0);       // 60 % of a small one
  CHECK(actors::eviction_rate({60, 40}) == 0.1);
  CHECK(actors::eviction_rate({0, 5}) == 0.1);  // the whole zone, while others live
  CHECK(actors::all_down({{"a", {0, 5}}, {"b", {0, 1}}}));
  CHECK_FALSE(actors::all_down({{"a", {0, 5}}, {"b", {1, 1}}}));
  CHECK_FALSE(actors::all_down({}));
}

// -- the actors -----------------------------------------------------------------------------------

TEST_CASE("a node that falls silent becomes unknown after 40 s, and its pods leave after 300 s") {
  cluster c{1};
  add_node(c, "live");
  add_node(c, "dead");
  c.create(pod_named("a", "dead"));
  c.create(pod_named("b", "live"));
  renew_lease(c, "dead");
  keep_alive(c, {"live"}, seconds{39});
  CHECK(ready_of(c, "dead") == "True");
  keep_alive(c, {"live"}, seconds{8});
  CHECK(ready_of(c, "dead") == "Unknown");
  CHECK(ready_of(c, "live") == "True");
  CHECK(taints_in(c, "dead") == list{"unreachable:NoSchedule", "unreachable:NoExecute"});

  keep_alive(c, {"live"}, seconds{290});
  CHECK_FALSE(c.get<Pod>("default", "a").metadata().has_deletion_timestamp());
  keep_alive(c, {"live"}, seconds{20});
  CHECK(c.get<Pod>("default", "a").metadata().has_deletion_timestamp());
  CHECK_FALSE(c.get<Pod>("default", "b").metadata().has_deletion_timestamp());
}

TEST_CASE("a node that comes back in time loses its taints, and no pod is evicted") {
  cluster c{1};
  add_node(c, "live");
  add_node(c, "away");
  c.create(pod_named("a", "away"));
  keep_alive(c, {"live"}, seconds{335});
  CHECK(ready_of(c, "away") == "Unknown");
  post_ready(c, "away", "True");
  keep_alive(c, {"live", "away"}, seconds{400});
  CHECK(taints_in(c, "away").empty());
  CHECK_FALSE(c.get<Pod>("default", "a").metadata().has_deletion_timestamp());
}

TEST_CASE("a node that never reports becomes unknown after 60 s") {
  cluster c{1};
  add_node(c, "live");
  Node node;
  node.mutable_metadata()->set_name("new");
  c.create(node);
  keep_alive(c, {"live"}, seconds{58});
  CHECK(ready_of(c, "new").empty());
  keep_alive(c, {"live"}, seconds{5});
  CHECK(ready_of(c, "new") == "Unknown");
}

TEST_CASE("no pod is evicted when every node is silent") {
  cluster c{1};
  add_node(c, "n1");
  add_node(c, "n2");
  c.create(pod_named("a", "n1"));
  c.advance(minutes{10});
  CHECK(ready_of(c, "n1") == "Unknown");
  CHECK_FALSE(sent_away(c, "n1"));
  CHECK_FALSE(c.get<Pod>("default", "a").metadata().has_deletion_timestamp());

  // One comes back: the other has its time to come back too, then its pods go.
  post_ready(c, "n2", "True");
  keep_alive(c, {"n2"}, seconds{30});
  CHECK_FALSE(sent_away(c, "n1"));
  keep_alive(c, {"n2"}, seconds{30});
  CHECK(sent_away(c, "n1"));
}

TEST_CASE("pods of nodes that fail together are evicted one node after the other") {
  cluster c{1};
  std::vector<std::string> live;
  for (int i = 0; i < 8; ++i)
    add_node(c, live.emplace_back("live" + std::to_string(i)));
  for (int i = 0; i < 3; ++i)
    add_node(c, "dead" + std::to_string(i));
  keep_alive(c, live, seconds{47});
  const auto gone = [&] {
    int count = 0;
    for (int i = 0; i < 3; ++i)
      count += sent_away(c, "dead" + std::to_string(i)) ? 1 : 0;
    return count;
  };
  CHECK(gone() == 1);
  keep_alive(c, live, seconds{30});
  CHECK(gone() == 3);
}

TEST_CASE("a crash of the minion or its supervisor loses no taint and no time of silence") {
  cluster c{1};
  add_node(c, "live");
  add_node(c, "dead");
  keep_alive(c, {"live"}, seconds{50});
  REQUIRE(sent_away(c, "dead"));
  SECTION("the minion") {
    c.crash("minion", "dead");
  }
  SECTION("the supervisor") {
    c.crash("supervisor", "minions");
  }
  keep_alive(c, {"live"}, seconds{60});
  CHECK(ready_of(c, "dead") == "Unknown");
  CHECK(sent_away(c, "dead"));
}

TEST_CASE("a permission to evict survives a crash of the minion before its use") {
  cluster c{1};
  add_node(c, "live");
  add_node(c, "dead");
  for (int i = 0; i < 60 && ready_of(c, "dead") != "Unknown"; ++i)
    keep_alive(c, {"live"}, seconds{1});
  // It throws in the place of hearing that it may.
  c.simulation().faults({.crash = 1, .may_crash = [](const auto& kind, const auto& name) {
                           return kind == "minion" && name == "dead";
                         }});
  keep_alive(c, {"live"}, seconds{10});
  REQUIRE_FALSE(sent_away(c, "dead"));
  c.simulation().faults({});
  keep_alive(c, {"live"}, seconds{120});
  CHECK(ready_of(c, "dead") == "Unknown");
  CHECK(sent_away(c, "dead"));
}

TEST_CASE("leases alone keep a node alive, and its minion ends with it") {
  cluster c{1};
  add_node(c, "n1");
  keep_alive(c, {"n1"}, seconds{300});
  CHECK(ready_of(c, "n1") == "True");
  CHECK(c.actor("minion", "n1"));
  c.remove<Node>({}, "n1");
  c.settle();
  CHECK_FALSE(c.actor("minion", "n1"));
}

TEST_CASE("a node that is registered, silent and removed has an event each") {
  cluster c{1};
  add_node(c, "n1");
  c.advance(seconds{45});
  c.remove<Node>({}, "n1");
  c.settle();
  std::set<std::string> events;
  for (const auto& each : c.list<api::core::v1::Event>("default")) {
    const auto& event = each->as<api::core::v1::Event>();
    CHECK(event.source().component() == "node-controller");
    CHECK(event.involved_object().name() == "n1");
    events.insert(event.type() + " " + event.reason() + " " + event.message());
  }
  CHECK(events == std::set<std::string>{
                      "Normal RegisteredNode Node n1 event: Registered Node n1 in Controller",
                      "Normal NodeNotReady Node n1 status is now: NodeNotReady",
                      "Normal RemovingNode Node n1 event: Removing Node n1 from Controller"});
}

}  // namespace troupe::test
