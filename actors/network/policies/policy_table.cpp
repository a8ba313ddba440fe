#include "actors/network/policies/policy_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "actors/network/services/element_lines.hpp"

namespace troupe::actors::policies {
namespace {

using services::element_lines;

// Runs after service addresses were translated to those of pods. A pod can always reach itself,
// even by a service. The parameters are the table and the packet header.
constexpr const char* base_chain = R"(
add chain {0} forward {{ type filter hook forward priority 10; policy accept; }}
add rule {0} forward ct state established,related accept
add rule {0} forward {1} saddr . {1} daddr @self accept
add rule {0} forward {1} saddr vmap @egress
add rule {0} forward {1} daddr vmap @ingress
)";

// nft limits a comment to 127 bytes.
constexpr std::size_t comment_bytes = 120;

std::string protocol_text(std::string_view protocol) {
  return protocol == "UDP" ? "udp" : protocol == "SCTP" ? "sctp" : "tcp";
}

template <class Write>
std::string range_text(ip_number first, ip_number last, Write&& write) {
  return first == last ? write(first) : fmt::format("{}-{}", write(first), write(last));
}

std::string comment_of(const std::string& policy) {
  const bool plain = std::all_of(policy.begin(), policy.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '/';
  });
  return plain ? fmt::format(" comment \"{}\"", policy.substr(0, comment_bytes)) : std::string{};
}

std::string set_name(std::uint64_t rule, std::string_view part) {
  return fmt::format("rule-{}-{}", rule, part);
}

// Appends the lines of one rule: one for each combination of peer and port match.
void add_lines(std::vector<std::string>& to, const policy_rule& rule, std::uint64_t number,
               direction side, const char* header) {
  std::vector<std::string> peers, ports;
  const auto peer = fmt::format("{} {}", header, side == direction::ingress ? "saddr" : "daddr");
  if (rule.any_peer) peers.push_back({});
  if (rule.by_pods) peers.push_back(fmt::format("{} @{} ", peer, set_name(number, "pods")));
  if (rule.by_blocks) peers.push_back(fmt::format("{} @{} ", peer, set_name(number, "blocks")));
  if (rule.any_port) ports.push_back({});
  if (rule.by_number)
    ports.push_back(fmt::format("meta l4proto . th dport @{} ", set_name(number, "ports")));
  if (rule.by_name)
    ports.push_back(
        fmt::format("{} daddr . meta l4proto . th dport @{} ", header, set_name(number, "named")));
  for (const auto& each : peers)
    for (const auto& port : ports)
      to.push_back(fmt::format("{}{}counter return{}", each, port, comment_of(rule.policy)));
}

template <class Numbers, class Wanted>
void forget_others(Numbers& numbers, const Wanted& wanted) {
  std::erase_if(numbers, [&](const auto& entry) { return !wanted(entry.first); });
}

}  // namespace

void policy_table::add_rule(const rule_key& key, const policy_rule& rule) {
  auto& number = rule_numbers_[key];
  if (number == 0) number = ++last_number_;
  auto& sets = wanted_.collections;
  const std::string type = family_->type;
  const auto text = [this](ip_number address) { return to_string(address, *family_); };
  if (rule.by_pods) {
    auto& pods = sets[set_name(number, "pods")] = {.type = type + ";"};
    for (const auto pod : rule.pods)
      pods.elements[text(pod)];
  }
  if (rule.by_blocks) {
    auto& blocks =
        sets[set_name(number, "blocks")] = {.type = type + "; flags interval;", .interval = true};
    for (const auto& [first, last] : rule.blocks.parts())
      blocks.elements[range_text(first, last, text)];
  }
  if (rule.by_number) {
    auto& ports = sets[set_name(number, "ports")] = {
        .type = "inet_proto . inet_service; flags interval;", .interval = true};
    for (const auto& [protocol, numbers] : rule.numbers)
      for (const auto& [first, last] : numbers.parts())
        ports.elements[protocol_text(protocol) + " . " + range_text(first, last, [](ip_number at) {
                         return std::to_string(static_cast<std::uint32_t>(at));
                       })];
  }
  if (rule.by_name) {
    auto& named =
        sets[set_name(number, "named")] = {.type = type + " . inet_proto . inet_service;"};
    for (const auto& each : rule.named)
      named.elements[fmt::format("{} . {} . {}", text(each.address), protocol_text(each.protocol),
                                 each.port)];
  }
}

std::vector<std::string> policy_table::lines_of(const node_rules& rules, direction side,
                                                const rule_list& list) const {
  std::vector<std::string> lines;
  for (const auto& key : list)
    add_lines(lines, rules.rules.at(key), rule_numbers_.at(key), side, family_->word);
  lines.push_back("counter drop");
  return lines;
}

void policy_table::want(const node_rules& rules) {
  wanted_ = {};
  forget_others(rule_numbers_, [&](const rule_key& key) { return rules.rules.contains(key); });
  for (const auto& [key, rule] : rules.rules)
    add_rule(key, rule);
  auto& self = wanted_.collections["self"];
  self.type = fmt::format("{0} . {0};", family_->type);
  std::map<std::pair<direction, rule_list>, std::uint64_t> chains;
  guarded_ = 0;
  for (const auto side : {direction::ingress, direction::egress}) {
    auto& pods = wanted_.collections[std::string{to_string(side)}];
    pods.type = fmt::format("{} : verdict;", family_->type);
    pods.map = true;
    const auto found = rules.guarded.find(side);
    if (found == rules.guarded.end()) continue;
    for (const auto& [address, list] : found->second) {
      const auto known = chain_numbers_.find({side, list});
      auto& number = chains[{side, list}];
      if (number == 0) number = known != chain_numbers_.end() ? known->second : ++last_number_;
      const auto chain = fmt::format("{}-{}", to_string(side), number);
      auto& lines = wanted_.chains[chain];
      if (lines.empty()) lines = lines_of(rules, side, list);
      const auto text = to_string(address, *family_);
      pods.elements[text] = "jump " + chain;
      self.elements[text + " . " + text];
      ++guarded_;
    }
  }
  chain_numbers_ = std::move(chains);
}

std::string policy_table::whole() {
  written_ = {};
  created_ = true;
  return fmt::format("add table {0}\ndelete table {0}\nadd table {0}\n{1}", family_->policies,
                     changes()) +
         fmt::format(base_chain, family_->policies, family_->word);
}

std::string policy_table::difference() {
  return created_ ? changes() : whole();
}

void policy_table::collect_elements(std::string& flushed, std::string& removed,
                                    std::string& added) const {
  const auto* table = family_->policies;
  element_lines remove{"delete", table, removed}, add{"add", table, added};
  const std::map<std::string, std::string> none;
  for (const auto& [name, now] : wanted_.collections) {
    const auto written = written_.collections.find(name);
    const auto& before = written == written_.collections.end() ? none : written->second.elements;
    if (before == now.elements) continue;
    // New ranges may overlap the replaced ones, so flush the set.
    const bool replaced = now.interval && !before.empty();
    if (replaced) flushed += fmt::format("flush set {} {}\n", table, name);
    for (const auto& [key, data] : before) {
      const auto still = now.elements.find(key);
      if (!replaced && (still == now.elements.end() || still->second != data))
        remove.add(name, key);
    }
    for (const auto& [key, data] : now.elements) {
      const auto had = before.find(key);
      if (replaced || had == before.end() || had->second != data) add.add(name, key, data);
    }
  }
}

std::string policy_table::changes() {
  const auto* table = family_->policies;
  std::string declared, flushed, removed, rules, added, dropped;
  for (const auto& [name, now] : wanted_.collections)
    if (!written_.collections.contains(name))
      declared += fmt::format("add {} {} {} {{ type {} }}\n", now.map ? "map" : "set", table, name,
                              now.type);
  collect_elements(flushed, removed, added);
  for (const auto& [name, lines] : wanted_.chains) {
    const auto written = written_.chains.find(name);
    if (written != written_.chains.end() && written->second == lines) continue;
    declared += fmt::format("add chain {} {}\n", table, name);
    rules += fmt::format("flush chain {} {}\n", table, name);
    for (const auto& line : lines)
      rules += fmt::format("add rule {} {} {}\n", table, name, line);
  }
  // Chains are deleted after the elements that jump to them, sets after the rules that use them.
  for (const auto& [name, lines] : written_.chains)
    if (!wanted_.chains.contains(name)) dropped += fmt::format("delete chain {} {}\n", table, name);
  for (const auto& [name, was] : written_.collections)
    if (!wanted_.collections.contains(name))
      dropped += fmt::format("delete set {} {}\n", table, name);
  written_ = wanted_;
  return declared + flushed + removed + rules + added + dropped;
}

std::string policy_table::probe() const {
  return created_ ? fmt::format("add chain {} forward\n", family_->policies) : std::string{};
}

std::string no_policy_table(const address_family& family) {
  return fmt::format("add table {0}\ndelete table {0}\n", family.policies);
}

}  // namespace troupe::actors::policies
