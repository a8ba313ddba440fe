#include "actors/network/routing/node_ranges.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>

#include "api/schema/core_node.pb.h"

namespace troupe::actors::routing {

using api::core::v1::Node;

namespace {

// A set of ranges without overlaps.
class disjoint_ranges {
 public:
  bool add(const api::cidr& range) {
    auto& known = known_[range.is_v6()];
    const auto next = known.lower_bound(range.bytes());
    if (next != known.end() && range.contains(next->second)) return false;
    // Of the ranges that start before it only the last can overlap it.
    if (next != known.begin() && std::prev(next)->second.contains(range)) return false;
    if (next != known.end() && next->second.contains(range)) return false;
    known.emplace(range.bytes(), range);
    return true;
  }

 private:
  std::array<std::map<std::array<std::uint8_t, 16>, api::cidr>, 2> known_;
};

std::string address_of(const Node& node, bool v6) {
  for (const auto& each : node.status().addresses())
    if (each.type() == "InternalIP" && api::ip_family(each.address()) == (v6 ? "IPv6" : "IPv4") &&
        !api::is_loopback_ip(each.address()))
      return each.address();
  return {};
}

std::vector<std::string> range_texts(const Node& node) {
  const auto& all = node.spec().pod_cidrs();
  if (!all.empty()) return {all.begin(), all.end()};
  if (node.spec().pod_cidr().empty()) return {};
  return {node.spec().pod_cidr()};
}

std::vector<api::object_ptr> in_order(const std::map<std::string, api::object_ptr>& nodes,
                                      const std::string& own) {
  std::vector<api::object_ptr> out;
  for (const auto& [name, node] : nodes)
    out.push_back(node);
  const auto rank = [&](const api::object_ptr& node) {
    const auto& meta = node->meta();
    return std::tuple{meta.name() != own, meta.creation_timestamp().seconds(),
                      std::string_view{meta.name()}};
  };
  std::sort(out.begin(), out.end(),
            [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
  return out;
}

}  // namespace

node_ranges ranges_of_nodes(const std::map<std::string, api::object_ptr>& nodes,
                            const std::string& own, const std::vector<api::cidr>& cluster) {
  node_ranges out;
  disjoint_ranges taken;
  for (const auto& object : in_order(nodes, own)) {
    const auto& node = object->as<Node>();
    const auto& name = node.metadata().name();
    if (name == own) {
      out.own_address = address_of(node, false);
      out.own_address_v6 = address_of(node, true);
    }
    for (const auto& text : range_texts(node)) {
      const auto range = api::cidr::parse(text);
      const bool inside = range && range->is_canonical() &&
                          std::any_of(cluster.begin(), cluster.end(),
                                      [&](const auto& each) { return each.contains(*range); });
      if (!inside) {
        out.problems.push_back(
            fmt::format("node {}: {} is in no range of network.podCidrs", name, text));
      } else if (!taken.add(*range)) {
        out.problems.push_back(fmt::format("node {}: another node has {} too", name, text));
      } else if (name == own) {
        out.own.push_back(*range);
      } else if (auto address = address_of(node, range->is_v6());
                 !address.empty() || range->is_v6()) {
        out.peers.push_back({name, *range, std::move(address)});
      } else {
        out.problems.push_back(
            fmt::format("node {}: it has no address by which others reach {}", name, text));
      }
    }
  }
  return out;
}

}  // namespace troupe::actors::routing
