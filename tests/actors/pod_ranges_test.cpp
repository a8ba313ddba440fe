#include "actors/nodes/pod_ranges.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "api/schema/core_event.pb.h"
#include "support/cluster.hpp"
#include "support/nodes.hpp"
#include "support/seeds.hpp"

namespace troupe::test {

using actors::pod_ranges;
using api::core::v1::Event;
using api::core::v1::Node;
using Catch::Matchers::Contains;

namespace {

pod_ranges ranges(const std::string& cluster, int node_bits) {
  auto made = pod_ranges::make({cluster, node_bits});
  REQUIRE(made);
  return *made;
}

api::cidr range(const std::string& text) {
  return *api::cidr::parse(text);
}

std::string take(pod_ranges& from) {
  const auto taken = from.take();
  return taken ? taken->text() : "none";
}

cluster_options with_ranges(const std::vector<pod_ranges>& pools) {
  cluster_options options;
  options.plane.ranges_of_pods = pools;
  return options;
}

std::string range_of(cluster& c, const std::string& node) {
  return c.get<Node>({}, node).spec().pod_cidr();
}

bool has_range(cluster& c, const std::string& node) {
  return c.run_until([&] { return !range_of(c, node).empty(); });
}

std::size_t refusals(cluster& c) {
  std::size_t count = 0;
  for (const auto& each : c.list<Event>())
    count += each->as<Event>().reason() == "CIDRNotAvailable";
  return count;
}

}  // namespace

TEST_CASE("ranges have equal size, and released ranges are assigned last", "[pod_ranges]") {
  auto of = ranges("10.42.0.0/22", 24);
  CHECK(of.size() == 4);
  CHECK(take(of) == "10.42.0.0/24");
  CHECK(take(of) == "10.42.1.0/24");
  of.release(range("10.42.0.0/24"));
  CHECK(take(of) == "10.42.2.0/24");
  CHECK(take(of) == "10.42.3.0/24");
  CHECK(take(of) == "10.42.0.0/24");
  CHECK(take(of) == "none");
  CHECK(of.taken() == 4);
}

TEST_CASE("a range set by a user takes each part that it overlaps", "[pod_ranges]") {
  auto of = ranges("10.42.0.0/21", 24);
  of.occupy(range("10.42.0.0/23"));
  of.occupy(range("10.42.3.128/25"));
  of.occupy(range("192.0.2.0/24"));
  CHECK(of.taken() == 3);
  CHECK(take(of) == "10.42.2.0/24");
  CHECK(take(of) == "10.42.4.0/24");
  of.occupy(range("10.0.0.0/8"));
  CHECK(take(of) == "none");
  of.release(range("10.0.0.0/8"));
  CHECK(of.taken() == 5);
  // Two nodes had it: it is free when both have released it.
  of.occupy(range("10.42.3.0/24"));
  of.release(range("10.42.3.128/25"));
  CHECK(of.taken() == 5);
}

TEST_CASE("ranges of the other family divide too", "[pod_ranges]") {
  auto of = ranges("fd00:42::/56", 64);
  CHECK(take(of) == "fd00:42::/64");
  CHECK(take(of) == "fd00:42:0:1::/64");
}

TEST_CASE("a range that cannot be divided is refused with the reason", "[pod_ranges]") {
  CHECK_THAT(pod_ranges::make({"10.42.0.1/16", 24}).error(), Contains("is not an address range"));
  CHECK_THAT(pod_ranges::make({"pods", 24}).error(), Contains("\"pods\" is not an address range"));
  CHECK_THAT(pod_ranges::make({"10.42.0.0/16", 8}).error(), Contains("from /16 to /30, not /8"));
  CHECK_THAT(pod_ranges::make({"10.0.0.0/8", 25}).error(), Contains("from /8 to /24, not /25"));
}

TEST_CASE("each node gets a range of each family, and one that goes leaves its own",
          "[pod_ranges]") {
  cluster c{1, with_ranges({ranges("10.42.0.0/23", 24), ranges("fd00:42::/56", 64)})};
  add_node(c, "a");
  add_node(c, "b");
  REQUIRE((has_range(c, "a") && has_range(c, "b")));
  const auto a = c.get<Node>({}, "a");
  REQUIRE(a.spec().pod_cidrs_size() == 2);
  CHECK(a.spec().pod_cidrs(0) == a.spec().pod_cidr());
  CHECK_THAT(a.spec().pod_cidrs(1), Contains("fd00:42"));
  CHECK(range_of(c, "a") != range_of(c, "b"));

  add_node(c, "late");
  REQUIRE(c.run_until([&] { return refusals(c) == 1; }));
  CHECK(range_of(c, "late").empty());
  const auto freed = range_of(c, "a");
  c.remove<Node>({}, "a");
  REQUIRE(has_range(c, "late"));
  CHECK(range_of(c, "late") == freed);
  CHECK(refusals(c) == 1);
}

TEST_CASE("a range set by a user is kept and assigned to no other node", "[pod_ranges]") {
  Node by_hand;
  by_hand.mutable_metadata()->set_name("by-hand");
  by_hand.mutable_spec()->set_pod_cidr("10.42.1.0/24");
  by_hand.mutable_spec()->add_pod_cidrs("10.42.1.0/24");
  cluster c{1, with_ranges({ranges("10.42.0.0/23", 24)})};
  c.create(by_hand);
  c.settle();
  add_node(c, "a");
  add_node(c, "b");
  REQUIRE(has_range(c, "a"));
  CHECK(range_of(c, "a") == "10.42.0.0/24");
  CHECK(c.run_until([&] { return refusals(c) == 1; }));
  CHECK(range_of(c, "by-hand") == "10.42.1.0/24");
}

TEST_CASE("no range is given twice, whatever crashes and however late the store shows it",
          "[pod_ranges]") {
  for_each_seed(40, [](std::uint64_t seed) {
    auto options = with_ranges({ranges("10.42.0.0/20", 24)});
    options.far = seed % 2 == 0;
    cluster c{seed, options};
    const auto all_differ = [&] {
      std::set<std::string> seen;
      for (const auto& each : c.list<Node>()) {
        const auto& own = each->as<Node>().spec().pod_cidr();
        if (!own.empty() && !seen.insert(own).second) return false;
      }
      return true;
    };
    for (int round = 0; round < 8; ++round) {
      add_node(c, "n" + std::to_string(round));
      if (round % 3 == 1) c.crash("pod-range-allocator", "pod-range-allocator");
      if (round % 4 == 3) c.remove<Node>({}, "n" + std::to_string(round - 1));
      CHECK(all_differ());
    }
    CHECK(c.run_until([&] {
      for (const auto& each : c.list<Node>())
        if (each->as<Node>().spec().pod_cidr().empty()) return false;
      return true;
    }));
    CHECK(all_differ());
  });
}

}  // namespace troupe::test
