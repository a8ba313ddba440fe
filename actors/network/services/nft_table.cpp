#include "actors/network/services/nft_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "actors/defaults.hpp"
#include "actors/network/defaults.hpp"
#include "actors/network/services/element_lines.hpp"
#include "api/values/text_parts.hpp"

namespace troupe::actors::services {
namespace {

// Kinds of chains, each for a number of endpoints. nft 1.0.6 rejects a new rule that uses a map
// which exists in the kernel ("conflicting protocols specified: tcp vs. th"): so chains are created
// together with the maps, for a range of numbers, extended in steps.
constexpr std::array chain_kinds{"pick", "outer-pick", "node-pick", "node-local"};
constexpr std::size_t chains_at_once = 16;

// `numgen` is used as the type of any number. Maps of verdicts count the connections of each
// element: only the first packet of a connection comes here (service_counts.hpp).
std::string collections_text(const address_family& family) {
  return fmt::format(R"(
  set cluster-ips {{ type {type}; }}
  set hairpin {{ type {type} . {type}; }}
  map service-ports {{ type {type} . inet_proto . inet_service : verdict; counter; }}
  map node-ports {{ type inet_proto . inet_service : verdict; counter; }}
  map host-ports {{ type {type} . inet_proto . inet_service : verdict; counter; }}
  map endpoints {{
    typeof {ip} daddr . meta l4proto . th dport . numgen random mod 2 : {ip} daddr . th dport; }}
  map node-endpoints {{
    typeof meta l4proto . th dport . numgen random mod 2 : {ip} daddr . th dport; }}
  map refused {{ type {type} . inet_proto . inet_service : verdict; counter; }}
  map node-refused {{ type inet_proto . inet_service : verdict; counter; }}
)",
                     fmt::arg("type", family.type), fmt::arg("ip", family.word));
}

// The addresses of the machine whose ports are not those of services and pods.
std::string reserved_for_machine(const address_family& family) {
  return &family == &family_v4
             ? fmt::format("{{ {}, {}, {} }}", family.loopback, network_defaults::dns_address,
                           defaults::api_service_address)
             : family.loopback;
}

// Hook priorities as upstream: destinations are translated before the filters. Where another
// program sets route_localnet, pods can send to the machine's loopback addresses, where programs
// listen that trust each user of the machine. A loopback address as hostIP serves connections of
// the machine only, as others on its link could send to it, too; and of them only those that have
// another source address, as packets with a loopback address do not leave the machine.
std::string chains_text(const table_options& options) {
  const auto mark =
      fmt::format("meta mark set meta mark or {:#x}", network_defaults::masquerade_mark);
  const auto unless_pod =
      options.pod_network.empty()
          ? std::string{}
          : fmt::format("{} saddr != {} ", options.family->word, options.pod_network);
  const auto leaves = options.pod_network.empty()
                          ? std::string{}
                          : fmt::format(
                                "    {1} saddr {0} {1} daddr != {0} masquerade "
                                "fully-random\n",
                                options.pod_network, options.family->word);
  const auto others =
      options.service_network.empty()
          ? std::string{}
          : fmt::format("    {} daddr {} drop\n", options.family->word, options.service_network);
  const auto reserved = reserved_for_machine(*options.family);
  const auto inner =
      options.inner_address.empty()
          ? std::string{}
          : fmt::format("    iifname != \"lo\" iifname != \"{}\" {} daddr {} drop\n",
                        network_defaults::pod_devices, options.family->word, options.inner_address);
  return fmt::format(R"(
  chain refuse {{ reject; }}
  chain address-ports {{ {ip} daddr . meta l4proto . th dport vmap @host-ports; }}
  chain own-ports {{
    meta l4proto . th dport vmap @node-ports
    goto address-ports
  }}
  chain services {{
    {ip} daddr @cluster-ips {unless_pod}{mark}
    {ip} daddr . meta l4proto . th dport vmap @service-ports
    fib daddr type local {ip} daddr != {reserved} goto own-ports
  }}
  chain masquerading {{
    meta mark & {bit:#x} != 0 meta mark set meta mark xor {bit:#x} masquerade fully-random
    ct status dnat {ip} saddr . {ip} daddr @hairpin masquerade fully-random
{leaves}  }}
  chain unreachable {{
    {ip} daddr . meta l4proto . th dport vmap @refused
    fib daddr type local meta l4proto . th dport vmap @node-refused
    fib daddr type local return
    {ip} daddr @cluster-ips reject
{others}  }}
  chain prerouting {{ type nat hook prerouting priority -100; goto services; }}
  chain output {{
    type nat hook output priority -100;
    {ip} saddr != {loopback} {ip} daddr {loopback} goto address-ports
    goto services
  }}
  chain postrouting {{ type nat hook postrouting priority 100; goto masquerading; }}
  chain filter-input {{
    type filter hook input priority 0;
    iifname "{pod_devices}" {ip} daddr {loopback} ct state != {{ established, related }} drop
{inner}    ct state new goto unreachable
  }}
  chain filter-forward {{ type filter hook forward priority 0; ct state new goto unreachable; }}
  chain filter-output {{ type filter hook output priority 0; ct state new goto unreachable; }}
)",
                     fmt::arg("unless_pod", unless_pod), fmt::arg("mark", mark),
                     fmt::arg("bit", network_defaults::masquerade_mark), fmt::arg("leaves", leaves),
                     fmt::arg("others", others), fmt::arg("inner", inner),
                     fmt::arg("reserved", reserved), fmt::arg("ip", options.family->word),
                     fmt::arg("loopback", options.family->loopback),
                     fmt::arg("pod_devices", network_defaults::pod_devices));
}

std::string rule_of(std::string_view kind, std::size_t number, const address_family& family) {
  const bool node = kind.starts_with("node-");
  const bool marks = kind.starts_with("outer-") || kind.starts_with("node-pick");
  const auto key =
      fmt::format("{}meta l4proto . th dport", node ? "" : fmt::format("{} daddr . ", family.word));
  return fmt::format(
      "{}meta l4proto {{ tcp, udp, sctp }} dnat {} addr . port to {} . numgen random mod {} map "
      "@{}",
      marks ? fmt::format("meta mark set meta mark or {:#x} ", network_defaults::masquerade_mark)
            : std::string{},
      family.word, key, number, node ? "node-endpoints" : "endpoints");
}

// Script parts for sets and chains that belong to one service. All are declared before any rule.
struct own_objects {
  const address_family& family;
  std::string flushed = {}, declared = {}, rules = {}, removed = {};

  void add(const element_key& key, const std::string& data) {
    if (key.collection == own_set) {
      declared += fmt::format("add set {} {} {{ type {}; flags dynamic, timeout; }}\n",
                              family.table, key.key, family.type);
      return;
    }
    declared += fmt::format("add chain {} {}\n", family.table, key.key);
    std::string_view left{data};
    while (!left.empty())
      rules +=
          fmt::format("add rule {} {} {}\n", family.table, key.key, api::take_part(left, '\n'));
  }
  void flush(const element_key& key) {
    if (key.collection == own_chain)
      flushed += fmt::format("flush chain {} {}\n", family.table, key.key);
  }
  void remove(const element_key& key) {
    removed += fmt::format("delete {} {} {}\n", key.collection, family.table, key.key);
  }
};

}  // namespace

void service_table::replace(const std::string& service, elements wanted) {
  auto& before = services_[service];
  for (const auto& [key, data] : before) {
    const auto found = owners_.find(key);
    found->second.erase(service);
    if (found->second.empty()) owners_.erase(found);
    changed_.insert(key);
  }
  for (const auto& [key, data] : wanted) {
    owners_[key][service] = data;
    changed_.insert(key);
  }
  if (wanted.empty())
    services_.erase(service);
  else
    before = std::move(wanted);
}

std::map<std::string, std::size_t> service_table::wanted_chains() const {
  std::map<std::string, std::size_t> wanted;
  for (const auto* kind : chain_kinds)
    wanted[kind] = chains_at_once;
  for (const auto& [key, data] : written_) {
    const auto [kind, number] = numbered_chain(data);
    if (number == 0) continue;
    auto& most = wanted[kind];
    most = std::max(most, (number + chains_at_once - 1) / chains_at_once * chains_at_once);
  }
  return wanted;
}

void service_table::note_udp(const element_key& slot) {
  if (slot.collection != "endpoints" && slot.collection != "node-endpoints") return;
  const auto destination = slot.key.substr(0, slot.key.rfind(" . "));
  if (destination.find("udp . ") != destination.npos) changed_udp_.insert(destination);
}

udp_endpoints service_table::changed_udp() const {
  udp_endpoints out;
  for (const auto& destination : changed_udp_) {
    auto& endpoints = out[destination];
    const auto slots = destination + " . ";
    const element_key first{destination.starts_with("udp") ? "node-endpoints" : "endpoints", slots};
    for (auto slot = written_.lower_bound(first);
         slot != written_.end() && slot->first.collection == first.collection &&
         slot->first.key.starts_with(slots);
         ++slot)
      endpoints.insert(slot->second);
  }
  return out;
}

std::string service_table::whole() {
  created_ = true;
  changed_.clear();
  for (const auto& [key, data] : written_)
    note_udp(key);
  written_.clear();
  auto text = fmt::format("add table {0}\ndelete table {0}\ntable {0} {{{1}{2}}}\n", family().table,
                          collections_text(family()), chains_text(options_));
  for (const auto& [key, owners] : owners_) {
    written_[key] = owners.begin()->second;
    note_udp(key);
  }
  chains_ = wanted_chains();
  for (const auto& [kind, most] : chains_)
    for (std::size_t number = 1; number <= most; ++number)
      text += fmt::format("add chain {3} {0}-{1}\nadd rule {3} {0}-{1} {2}\n", kind, number,
                          rule_of(kind, number, family()), family().table);
  own_objects own{family()};
  for (const auto& [key, data] : written_)
    if (is_own(key)) own.add(key, data);
  text += own.declared + own.rules;
  element_lines lines{"add", family().table, text};
  for (const auto& [key, data] : written_)
    if (!is_own(key)) lines.add(key.collection, key.key, data);
  return text;
}

std::string service_table::difference() {
  if (!created_) return whole();
  std::string removed, added;
  own_objects own{family()};
  {
    element_lines remove{"delete", family().table, removed}, add{"add", family().table, added};
    for (const auto& key : changed_) {
      const auto wanted = owners_.find(key);
      const auto written = written_.find(key);
      const bool wants = wanted != owners_.end(), has = written != written_.end();
      if (wants && has && written->second == wanted->second.begin()->second) continue;
      note_udp(key);
      if (has && is_own(key))
        own.flush(key);
      else if (has)
        remove.add(key.collection, key.key);
      if (!wants) {
        if (has) written_.erase(written);
        if (has && is_own(key)) own.remove(key);
        continue;
      }
      const auto& data = wanted->second.begin()->second;
      if (const auto [kind, number] = numbered_chain(data); number > chains_[kind]) return whole();
      if (is_own(key))
        own.add(key, data);
      else
        add.add(key.collection, key.key, data);
      written_[key] = data;
    }
  }
  changed_.clear();
  // Elements are removed before others take their keys, chains after the elements and rules that
  // jump to them, sets after the rules that use them ("chain" sorts before "set").
  return removed + own.flushed + own.declared + own.rules + added + own.removed;
}

std::string service_table::probe() const {
  return created_ ? fmt::format("add chain {} services\n", family().table) : std::string{};
}

std::string no_table(const address_family& family) {
  return fmt::format("add table {0}\ndelete table {0}\n", family.table);
}

}  // namespace troupe::actors::services
