// Topology hints in proportion to the zones' processors.
#include "actors/controllers/endpoints/topology_hints.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <random>

#include "api/schema/core_node.pb.h"
#include "api/scheme.hpp"

namespace troupe::test {

using actors::endpoints::cpu_of_zones;
using actors::endpoints::known_hints;
using actors::endpoints::set_topology_hints;
using actors::endpoints::zone_cpu;
using api::core::v1::Node;
using api::discovery::v1::Endpoint;

namespace {

class endpoint_set {
 public:
  void add(const std::string& zone, bool ready = true) {
    auto& each = all_.emplace_back();
    each.mutable_target_ref()->set_uid(fmt::format("uid-{:04}", all_.size()));
    each.mutable_conditions()->set_ready(ready);
    if (!zone.empty()) each.set_zone(zone);
  }
  std::string set(const zone_cpu& zones, const known_hints& before = {}) {
    std::vector<Endpoint*> pointers;
    for (auto& each : all_)
      pointers.push_back(&each);
    return set_topology_hints(pointers, zones, before);
  }
  known_hints hints() const {
    known_hints out;
    for (const auto& each : all_)
      if (!each.hints().for_zones().empty())
        out[each.target_ref().uid()] = each.hints().for_zones(0).name();
    return out;
  }
  std::map<std::string, int> counts() const {
    std::map<std::string, int> out;
    for (const auto& [uid, zone] : hints())
      ++out[zone];
    return out;
  }

 private:
  std::vector<Endpoint> all_;
};

using counts = std::map<std::string, int>;

api::object_ptr node(const std::string& zone, const std::string& cpu, bool ready = true,
                     const std::string& label = "") {
  auto made = std::make_unique<Node>();
  made->mutable_metadata()->set_name("n");
  auto& labels = *made->mutable_metadata()->mutable_labels();
  if (!zone.empty()) labels["topology.kubernetes.io/zone"] = zone;
  if (!label.empty()) labels[label] = "";
  if (!cpu.empty()) (*made->mutable_status()->mutable_allocatable())["cpu"].set_string(cpu);
  auto& condition = *made->mutable_status()->add_conditions();
  condition.set_type("Ready");
  condition.set_status(ready ? "True" : "False");
  return std::make_shared<const api::object>(api::kind_of<Node>(), std::move(made), 1);
}

}  // namespace

TEST_CASE("a zone has the processors of its ready nodes that run pods", "[endpoints]") {
  const auto plane = "node-role.kubernetes.io/control-plane";
  CHECK(cpu_of_zones({node("a", "2"), node("a", "500m"), node("b", "4"), node("", "8", false),
                      node("", "8", true, plane)}) == zone_cpu{{"a", 2500}, {"b", 4000}});
  CHECK(cpu_of_zones({node("a", "2"), node("", "2")}).empty());
  CHECK(cpu_of_zones({node("a", "2"), node("b", "")}).empty());
}

TEST_CASE("endpoints serve their own zone, and one that has fewer than its share", "[endpoints]") {
  const zone_cpu equal{{"a", 1000}, {"b", 1000}};
  endpoint_set even;
  for (const auto* zone : {"a", "a", "b", "b"})
    even.add(zone);
  even.add("a", false);
  CHECK(even.set(equal).empty());
  CHECK(even.counts() == counts{{"a", 2}, {"b", 2}});
  CHECK(even.hints().size() == 4);  // no hint for an endpoint that is not ready

  endpoint_set all_in_one;
  for (int i = 0; i < 6; ++i)
    all_in_one.add("a");
  CHECK(all_in_one.set(equal).empty());
  CHECK(all_in_one.counts() == counts{{"a", 3}, {"b", 3}});
  CHECK(all_in_one.set({{"a", 3000}, {"b", 1500}}).empty());
  CHECK(all_in_one.counts() == counts{{"a", 4}, {"b", 2}});
}

TEST_CASE("without enough nodes, endpoints or zones there are no hints, with a reason",
          "[endpoints]") {
  endpoint_set two;
  two.add("a");
  two.add("b");
  REQUIRE(two.set({{"a", 1}, {"b", 1}}).empty());
  CHECK(
      two.set({}) ==
      "Insufficient Node information: allocatable CPU or zone not specified on one or more nodes");
  CHECK(two.hints().empty());
  CHECK(two.set({{"a", 1}, {"b", 1}, {"c", 1}}) ==
        "Insufficient number of endpoints (2 endpoints, 3 zones)");
  two.add("a");
  CHECK(two.set({{"a", 1}, {"b", 1}}) ==
        "Unable to allocate minimum required endpoints to each zone without exceeding overload "
        "threshold (3 endpoints, 2 zones)");
  two.add("");
  CHECK(two.set({{"a", 1}, {"b", 1}}) == "One or more endpoints do not have a zone specified");
  CHECK(two.hints().empty());
}

TEST_CASE("hints give each zone about its share, and stay while they do", "[endpoints]") {
  int hinted = 0, kept = 0;
  for (unsigned seed = 1; seed <= 2'000; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random{seed};
    zone_cpu zones;
    double cpu = 0;
    const int count = 2 + static_cast<int>(random() % 3);
    for (int i = 0; i < count; ++i)
      cpu += static_cast<double>(zones[std::string(1, static_cast<char>('a' + i))] =
                                     500 + static_cast<int>(random() % 8'000));
    endpoint_set set;
    const int endpoints = 1 + static_cast<int>(random() % 60);
    for (int i = 0; i < endpoints; ++i)
      set.add(std::string(1, static_cast<char>('a' + random() % static_cast<unsigned>(count))));
    if (!set.set(zones).empty()) {
      CHECK(set.hints().empty());
      continue;
    }
    ++hinted;
    const auto first = set.hints();
    REQUIRE(static_cast<int>(first.size()) == endpoints);
    auto told = set.counts();
    for (const auto& [zone, amount] : zones) {
      const double share = static_cast<double>(amount) / cpu * endpoints;
      CHECK(told[zone] > share - 1.5);
      CHECK(told[zone] < share + 1.5 + count);
      CHECK(told[zone] > 0);
    }
    CHECK(set.set(zones, first).empty());
    CHECK(set.hints() == first);
    set.add("a");
    if (!set.set(zones, first).empty()) continue;
    const auto later = set.hints();
    CHECK(later.size() == first.size() + 1);
    kept += std::includes(later.begin(), later.end(), first.begin(), first.end());
  }
  CHECK(hinted > 1'000);
  INFO(kept << " of " << hinted);
  CHECK(kept > 0);
}

}  // namespace troupe::test
