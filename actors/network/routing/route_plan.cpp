#include "actors/network/routing/route_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

#include "actors/network/defaults.hpp"

namespace troupe::actors::routing {
namespace {

// The MTU of Ethernet, if this machine has no link.
constexpr std::uint32_t usual_mtu_bytes = 1'500;

std::optional<int> common_link(const std::string& address, const std::vector<own_link>& links) {
  const auto host =
      api::cidr::parse(address + (api::ip_family(address) == "IPv6" ? "/128" : "/32"));
  for (const auto& each : links)
    if (host && each.address.contains(*host)) return each.index;
  return std::nullopt;
}

std::uint32_t wire_mtu(const node_ranges& ranges, const std::vector<own_link>& links) {
  std::uint32_t least = 0;
  for (const auto& each : links) {
    if (each.address.address() == ranges.own_address) return each.mtu_bytes;
    least = least == 0 ? each.mtu_bytes : std::min(least, each.mtu_bytes);
  }
  return least == 0 ? usual_mtu_bytes : least;
}

// The IPv4 range of each other node.
using tunnel_ends = std::map<std::string_view, const pod_peer*>;

tunnel_ends ends_of(const node_ranges& ranges) {
  tunnel_ends out;
  for (const auto& peer : ranges.peers)
    if (!peer.range.is_v6()) out.emplace(peer.node, &peer);
  return out;
}

const api::cidr* own_range(const node_ranges& ranges) {
  const auto found = std::find_if(ranges.own.begin(), ranges.own.end(),
                                  [](const auto& range) { return !range.is_v6(); });
  return found == ranges.own.end() ? nullptr : &*found;
}

// Why a peer cannot be reached through the tunnel; empty: it can.
std::string tunnel_problem(const pod_peer& peer, const tunnel_ends& ends, const node_ranges& ranges,
                           route_mode mode) {
  if (mode == route_mode::direct && peer.address.empty())
    return fmt::format(
        "it has no address by which others reach {} directly, and network.routes is "
        "direct",
        peer.range.text());
  if (mode == route_mode::direct)
    return fmt::format("{} is on no link of this machine, and network.routes is direct",
                       peer.address);
  if (!ends.contains(peer.node))
    return fmt::format("{} has no tunnel: the node has no IPv4 address and range",
                       peer.range.text());
  if (ranges.own_address.empty() || own_range(ranges) == nullptr)
    return "this node has no IPv4 address and range of its own yet";
  return {};
}

}  // namespace

std::string hardware_address(const api::cidr& range) {
  std::string out{"\x02\x42"};
  out.append(reinterpret_cast<const char*>(range.bytes().data()), 4);
  return out;
}

route_plan plan_routes(const node_ranges& ranges, const std::vector<own_link>& links,
                       route_mode mode) {
  route_plan out;
  const auto ends = ends_of(ranges);
  out.pod_mtu_bytes = std::max(wire_mtu(ranges, links) - network_defaults::tunnel_overhead_bytes,
                               network_defaults::least_mtu_bytes);
  for (const auto& peer : ranges.peers) {
    const auto link = common_link(peer.address, links);
    if (link && mode != route_mode::tunnel) {
      out.direct[peer.range.text()] = {peer.address, *link, false};
      continue;
    }
    if (const auto problem = tunnel_problem(peer, ends, ranges, mode); !problem.empty()) {
      out.problems.push_back(fmt::format("node {}: {}", peer.node, problem));
      continue;
    }
    const auto& end = *ends.at(peer.node);
    out.through.peers[peer.range.address()] = {hardware_address(end.range), end.address};
    out.ranges_through.push_back(peer.range.text());
  }
  if (out.through.peers.empty()) return out;
  out.through.local = ranges.own_address;
  for (const auto& range : ranges.own)
    out.through.addresses.push_back(range.address());
  out.through.hardware = hardware_address(*own_range(ranges));
  out.through.mtu_bytes = out.pod_mtu_bytes;
  return out;
}

}  // namespace troupe::actors::routing
