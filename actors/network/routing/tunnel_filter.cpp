#include "actors/network/routing/tunnel_filter.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "actors/network/defaults.hpp"
#include "actors/network/services/nft_process.hpp"

namespace troupe::actors::routing {
namespace {

using services::address_family;

std::string table_of(const address_family& family) {
  return fmt::format("{} {}", family.word, network_defaults::tunnel_table);
}

std::string set_of(const std::set<std::string>& elements) {
  return fmt::format("{{ {} }}", fmt::join(elements, ", "));
}

}  // namespace

// A pod may send to this port of a pod, but not of a machine. It may use a false source address:
// its packets come by a device that is not on the route to that address. This is checked for
// devices of pods only, because the routes from and to a machine may differ. The tunnel's own
// packets are not tracked, so that no host port or external address of a service leads them to a
// pod.
std::string tunnel_filter(const node_ranges& nodes, const std::vector<api::cidr>& cluster,
                          const address_family& family) {
  const bool v6 = &family == &services::family_v6;
  const auto own = family.text_of(v6 ? nodes.own_address_v6 : nodes.own_address);
  std::set<std::string> machines, ranges;
  for (const auto& peer : nodes.peers)
    if (auto text = family.text_of(peer.address); !text.empty()) machines.insert(std::move(text));
  for (const auto& range : cluster)
    if (range.is_v6() == v6) ranges.insert(range.text());
  const bool has_tunnel = !machines.empty() && !own.empty();
  // The network's number comes after the headers of UDP and four bytes: VXLAN networks of others
  // may use the port, too.
  const auto rule = [&](bool wanted, const std::string& rest) {
    return wanted ? fmt::format("\n    udp dport {} @th,96,24 {} {}", network_defaults::tunnel_port,
                                network_defaults::tunnel_id, rest)
                  : std::string{};
  };
  const auto* ip = family.word;
  const auto from_nodes = fmt::format("{0} saddr {1} {0} daddr {2}", ip, set_of(machines), own);
  const auto to_nodes = fmt::format("{} daddr {}", ip, set_of(machines));
  const auto from_pods = fmt::format("{0} saddr {1} {0} daddr != {1}", ip, set_of(ranges));
  const auto no_false_source =
      rule(true, fmt::format("iifname \"{}\" fib saddr . iif oif missing drop",
                             network_defaults::pod_devices));
  return fmt::format(R"(add table {0}
delete table {0}
table {0} {{
  chain prerouting {{
    type filter hook prerouting priority -300;{1}
  }}
  chain output {{
    type filter hook output priority -300;{2}
  }}
  chain input {{
    type filter hook input priority 0;{3}{4}{5}
  }}
  chain forward {{
    type filter hook forward priority 0;{3}{6}
  }}
}}
)",
                     table_of(family), rule(has_tunnel, from_nodes + " notrack"),
                     rule(has_tunnel, to_nodes + " notrack"), no_false_source,
                     rule(has_tunnel, from_nodes + " accept"), rule(true, "drop"),
                     rule(!ranges.empty(), from_pods + " drop"));
}

tl::expected<void, std::string> apply_tunnel_filter(const node_ranges& nodes,
                                                    const std::vector<api::cidr>& cluster,
                                                    const address_family& family) {
  const auto nft = services::find_nft();
  if (!nft) return tl::make_unexpected("the program nft (package nftables) is missing");
  return services::run_nft({*nft}, tunnel_filter(nodes, cluster, family),
                           network_defaults::nft_limit);
}

tl::expected<void, std::string> remove_tunnel_filter() {
  for (const auto* family : {&services::family_v4, &services::family_v6})
    if (auto removed = services::remove_table(table_of(*family)); !removed) return removed;
  return {};
}

}  // namespace troupe::actors::routing
