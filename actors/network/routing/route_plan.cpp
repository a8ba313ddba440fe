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

std::uint32_t wire_mtu(const std::string& own_address, const std::vector<own_link>& links) {
  std::uint32_t least = 0;
  for (const auto& each : links) {
    if (each.address.address() == own_address) return each.mtu_bytes;
    least = least == 0 ? each.mtu_bytes : std::min(least, each.mtu_bytes);
  }
  return least == 0 ? usual_mtu_bytes : least;
}

// A machine in the tunnel.
struct tunnel_end {
  const api::cidr* range;
  std::string address;
};

using tunnel_ends = std::map<std::string_view, tunnel_end>;  // by node

// An end of IPv4 replaces one of IPv6.
tunnel_ends ends_of(const node_ranges& ranges) {
  tunnel_ends out;
  for (const auto& peer : ranges.peers)
    if (!peer.range.is_v6())
      out.insert_or_assign(peer.node, tunnel_end{&peer.range, peer.address});
    else if (!peer.address.empty())
      out.try_emplace(peer.node, tunnel_end{&peer.range, peer.address});
  return out;
}

std::optional<tunnel_end> own_end(const node_ranges& ranges) {
  for (const bool v6 : {false, true})
    for (const auto& range : ranges.own)
      if (const auto& address = v6 ? ranges.own_address_v6 : ranges.own_address;
          range.is_v6() == v6 && !address.empty())
        return tunnel_end{&range, address};
  return std::nullopt;
}

// Why a peer cannot be reached through the tunnel; empty: it can.
std::string tunnel_problem(const pod_peer& peer, const tunnel_ends& ends,
                           const std::optional<tunnel_end>& own, route_mode mode) {
  if (mode == route_mode::direct && peer.address.empty())
    return fmt::format(
        "it has no address by which others reach {} directly, and network.routes is "
        "direct",
        peer.range.text());
  if (mode == route_mode::direct)
    return fmt::format("{} is on no link of this machine, and network.routes is direct",
                       peer.address);
  const auto end = ends.find(peer.node);
  if (end == ends.end())
    return fmt::format("{} has no tunnel: the node has no address and range of one family",
                       peer.range.text());
  if (!own) return "this node has no address and range of one family yet";
  const auto family = [](const tunnel_end& of) { return of.range->is_v6() ? "IPv6" : "IPv4"; };
  if (end->second.range->is_v6() != own->range->is_v6())
    return fmt::format("{} has no tunnel: that of the node is of {}, that of this node of {}",
                       peer.range.text(), family(end->second), family(*own));
  return {};
}

}  // namespace

std::string hardware_address(const api::cidr& range) {
  std::string out{"\x02\x42"};
  const auto& bytes = range.bytes();
  const std::size_t size = range.is_v6() ? bytes.size() : 4;
  for (std::size_t i = 0; i < 4; ++i) {
    std::uint8_t sum = 0;
    for (std::size_t j = i; j < size; j += 4)
      sum ^= bytes[j];
    out += static_cast<char>(sum);
  }
  return out;
}

route_plan plan_routes(const node_ranges& ranges, const std::vector<own_link>& links,
                       route_mode mode) {
  route_plan out;
  const auto ends = ends_of(ranges);
  const auto own = own_end(ranges);
  out.pod_mtu_bytes =
      std::max(wire_mtu(own ? own->address : std::string{}, links) -
                   (own && own->range->is_v6() ? network_defaults::tunnel_overhead_bytes_v6
                                               : network_defaults::tunnel_overhead_bytes),
               network_defaults::least_mtu_bytes);
  for (const auto& peer : ranges.peers) {
    const auto link = common_link(peer.address, links);
    if (link && mode != route_mode::tunnel) {
      out.direct[peer.range.text()] = {peer.address, *link, false};
      continue;
    }
    if (const auto problem = tunnel_problem(peer, ends, own, mode); !problem.empty()) {
      out.problems.push_back(fmt::format("node {}: {}", peer.node, problem));
      continue;
    }
    const auto& end = ends.at(peer.node);
    out.through.peers[peer.range.address()] = {hardware_address(*end.range), end.address};
    out.ranges_through.push_back(peer.range.text());
  }
  if (out.through.peers.empty()) return out;
  out.through.local = own->address;
  for (const auto& range : ranges.own)
    out.through.addresses.push_back(range.address());
  out.through.hardware = hardware_address(*own->range);
  out.through.mtu_bytes = out.pod_mtu_bytes;
  return out;
}

}  // namespace troupe::actors::routing
