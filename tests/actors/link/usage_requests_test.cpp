// The usage of a node, requested and answered over its link.
#include <catch2/catch.hpp>
#include <limits>

#include "actors/kubelet/defaults.hpp"
#include "actors/kubelet/usage/usage_meter.hpp"
#include "actors/link/defaults.hpp"
#include "actors/link/raw_ends.hpp"
#include "actors/link/usage_frames.hpp"

namespace troupe::test {

using Catch::Matchers::Contains;
using std::chrono::seconds;
using namespace std::chrono_literals;

namespace {

actors::node_usage some_usage() {
  return {.age = 3s,
          .machine = actors::resource_usage{2'000'000'000, 1u << 30, 15s},
          .containers = {{"u1", "a", {1, 2, 3ns}}, {"u2", "b", {4, 5, 6ns, 7, 8, 9}}},
          .supplies = {.memory = {1, 2},
                       .disk = {3, 4},
                       .inodes = {5, 6},
                       .pids = {7, 8},
                       .images = {9, 10},
                       .image_inodes = {11, 12}},
          .up = 1000h,
          .networks = {{.address = "10.42.0.5", .rx_bytes = 10, .tx_dropped = 11}},
          .systemd_groups = true};
}

struct asked_node {
  asked_node() {
    world.add("n0");
    made = connect_raw_node(plane, "n0");
  }
  void ask(const std::string& node = "n0") {
    requester.ask(plane.plane().links().actor(), actors::ask_usage{node}, seconds{10},
                  &told::usages);
  }
  std::vector<actors::wire::ToNode::Item> heard() { return std::exchange(made.node->heard, {}); }
  void answer(std::uint64_t ask, const actors::node_usage& usage) {
    REQUIRE(made.node->say(
        [&](auto& item) { actors::write_usage_answer(*item.mutable_usage_answer(), ask, usage); }));
    plane.settle();
  }

  joined_cluster world{1};
  cluster& plane = world.plane();
  node_line made;
  actor_of_test requester{plane.simulation(), "asker"};
  const std::vector<actors::node_usage>& usages = requester.heard->usages;
};

}  // namespace

TEST_CASE("a node reports the usage of its machine and its containers on request", "[link]") {
  asked_node t;
  t.ask();
  const auto asked = t.heard();
  REQUIRE(asked.size() == 1);
  REQUIRE(asked[0].has_ask_usage());
  t.answer(asked[0].ask_usage().ask(), some_usage());
  REQUIRE(t.usages.size() == 1);
  const auto& usage = t.usages[0];
  CHECK(usage.problem.empty());
  CHECK(usage.age == 3s);
  REQUIRE(usage.machine);
  CHECK(usage.machine->cpu_nano == 2'000'000'000);
  CHECK(usage.machine->memory_bytes == 1u << 30);
  CHECK(usage.machine->window == 15s);
  REQUIRE(usage.containers.size() == 2);
  CHECK(usage.containers[1].pod_uid == "u2");
  CHECK(usage.containers[1].container == "b");
  CHECK(usage.containers[1].figure.cpu_nano == 4);
  CHECK(usage.containers[1].figure.memory_bytes == 5);
  CHECK(usage.containers[1].figure.window == 6ns);
  CHECK(usage.containers[1].figure.cpu_ns == 7);
  CHECK(usage.containers[1].figure.all_memory_bytes == 8);
  CHECK(usage.containers[1].figure.rss_bytes == 9);
  CHECK(usage.supplies.disk.left == 3);
  CHECK(usage.supplies.pids.all == 8);
  CHECK(usage.supplies.images.left == 9);
  CHECK(usage.supplies.image_inodes.all == 12);
  CHECK(usage.systemd_groups);
  CHECK(usage.up == 1000h);
  REQUIRE(usage.networks.size() == 1);
  CHECK(usage.networks[0].address == "10.42.0.5");
  CHECK(usage.networks[0].rx_bytes == 10);
  CHECK(usage.networks[0].tx_dropped == 11);
  // An answer that nobody asked for, or a second one, is ignored.
  t.answer(asked[0].ask_usage().ask(), some_usage());
  t.answer(4711, some_usage());
  CHECK(t.usages.size() == 1);
  CHECK(t.made.node->end.empty());
}

TEST_CASE("usage requests to a node are bounded, time out, and end with its session", "[link]") {
  asked_node t;
  t.ask("n1");
  REQUIRE(t.usages.size() == 1);
  CHECK(t.usages[0].problem == "node n1 is not connected");
  constexpr auto most = actors::link_defaults::served_requests;
  for (std::size_t i = 0; i <= most; ++i)
    t.ask();
  CHECK(t.heard().size() == most);
  REQUIRE(t.usages.size() == 2);
  CHECK(t.usages[1].problem == "too many requests to node n0");
  t.plane.advance(actors::link_defaults::request_limit + actors::link_defaults::sweep);
  CHECK(t.requester.heard->failed.size() == most);
  t.ask();
  CHECK(t.heard().size() == 1);
  t.made.line.cut();
  t.plane.settle();
  REQUIRE(t.usages.size() == 3);
  CHECK_THAT(t.usages[2].problem, Contains("the link to node n0 was lost"));
}

TEST_CASE("impossible usage figures of a node are refused", "[link]") {
  actors::wire::UsageAnswer said;
  constexpr auto all = std::numeric_limits<std::uint64_t>::max();
  said.set_ago_ms(all);
  said.set_problem(std::string(5'000, 'x') + "\nmore");
  said.mutable_machine()->set_cpu_nano(all);
  said.mutable_machine()->set_memory_bytes(all);
  said.mutable_machine()->set_window_ns(all);
  said.set_up_ns(all);
  said.mutable_disk()->set_left(all);
  said.mutable_disk()->set_all(50);
  said.mutable_pids()->set_all(all);
  const auto usage = actors::read_usage_answer(said);
  CHECK(usage.age == actors::link_defaults::usage_longest_time);
  CHECK(usage.problem.size() <= actors::link_defaults::reason_limit_bytes);
  REQUIRE(usage.machine);
  CHECK(usage.machine->cpu_nano == actors::link_defaults::usage_most_cpu_nano);
  CHECK(usage.machine->memory_bytes == actors::link_defaults::usage_most_memory_bytes);
  CHECK(usage.machine->window == actors::link_defaults::usage_longest_time);
  CHECK(usage.up == actors::link_defaults::usage_longest_up);
  CHECK(usage.supplies.disk.left == 50);
  CHECK(usage.supplies.pids.all == actors::link_defaults::usage_most_supply);
}

TEST_CASE("a gateway asks the usage meter of its node, and reports its absence", "[link]") {
  runtime::simulation world{1};
  const auto gateway = actors::spawn_gateway(world.system(), {.node = "n0"});
  const auto plane = connect_raw_plane(gateway);
  world.settle();
  const auto ask = [&](std::uint64_t number) {
    REQUIRE(plane.plane->say([&](auto& item) { item.mutable_ask_usage()->set_ask(number); }));
    world.advance(actors::kubelet_defaults::usage_first_window);
    return std::exchange(plane.plane->heard, {});
  };
  const auto none = ask(1);
  REQUIRE(none.size() == 1);
  CHECK(none[0].usage_answer().ask() == 1);
  CHECK(none[0].usage_answer().problem() == "node n0 measures nothing");
  world.system().spawn(
      {.kind = actors::usage_meter_kind, .name = "n0"},
      runtime::make<actors::usage_meter>(actors::usage_reader{[&](auto done) {
        const auto at = world.system().time().now().time_since_epoch();
        done({.machine = actors::usage_counters{at, static_cast<std::uint64_t>(at.count()), 9}});
      }}));
  const auto some = ask(2);
  REQUIRE(some.size() == 1);
  CHECK(some[0].usage_answer().ask() == 2);
  CHECK(some[0].usage_answer().problem().empty());
  CHECK(some[0].usage_answer().machine().cpu_nano() == 1'000'000'000);
  CHECK(some[0].usage_answer().machine().memory_bytes() == 9);
}

}  // namespace troupe::test
