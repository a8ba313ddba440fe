#include "actors/network/policies/policy_rules.hpp"

#include <string_view>
#include <unordered_map>

namespace troupe::actors::policies {
namespace {

using api::networking::v1::IPBlock;
using api::networking::v1::NetworkPolicy;
using api::networking::v1::NetworkPolicyPeer;
using api::networking::v1::NetworkPolicyPort;

constexpr std::uint32_t last_port = 65'535;

class compiler {
 public:
  explicit compiler(const policy_state& state) : state_{state} {
    made_.family = state.family;
    for (const auto& pod : state.pods)
      pods_of_[pod.ns()].push_back(&pod);
  }

  node_rules run() {
    for (const auto& policy : state_.policies)
      add(policy->meta().namespace_(), policy->as<NetworkPolicy>(),
          policy->meta().namespace_() + "/" + policy->meta().name());
    return std::move(made_);
  }

 private:
  using pod_list = std::vector<const policy_pod*>;

  void add(const std::string& ns, const NetworkPolicy& policy, const std::string& name) {
    const auto selector = selector_of(policy.spec().pod_selector());
    pod_list selected;
    for (const auto* pod : pods_of_[ns])
      if (pod->guarded && selector.matches(pod->labels())) selected.push_back(pod);
    if (selected.empty()) return;
    for (const auto side : {direction::ingress, direction::egress}) {
      if (!guards(policy.spec(), side)) continue;
      for (const auto* pod : selected)
        made_.guarded[side][pod->address];
      if (side == direction::ingress) {
        for (int i = 0; i < policy.spec().ingress_size(); ++i)
          add_rule({name, side, i}, selected, ns, policy.spec().ingress(i).from(),
                   policy.spec().ingress(i).ports());
      } else {
        for (int i = 0; i < policy.spec().egress_size(); ++i)
          add_rule({name, side, i}, selected, ns, policy.spec().egress(i).to(),
                   policy.spec().egress(i).ports());
      }
    }
  }

  template <class Peers, class Ports>
  void add_rule(rule_key key, const pod_list& selected, const std::string& ns, const Peers& peers,
                const Ports& ports) {
    const auto side = std::get<direction>(key);
    policy_rule rule;
    rule.policy = std::get<std::string>(key);
    rule.any_peer = peers.empty();
    for (const auto& peer : peers)
      add_peer(rule, peer, ns);
    rule.any_port = ports.empty();
    for (const auto& port : ports)
      add_port(rule, port, side, selected);
    for (const auto* pod : selected)
      made_.guarded[side][pod->address].push_back(key);
    made_.rules[std::move(key)] = std::move(rule);
  }

  void add_peer(policy_rule& rule, const NetworkPolicyPeer& peer, const std::string& own_ns) {
    if (peer.has_ip_block()) {
      rule.by_blocks = true;
      return add_block(rule.blocks, peer.ip_block());
    }
    rule.by_pods = true;
    const auto selector =
        peer.has_pod_selector() ? selector_of(peer.pod_selector()) : api::label_selector{};
    const auto add_pods = [&](const std::string& ns) {
      const auto found = pods_of_.find(ns);
      if (found == pods_of_.end()) return;
      for (const auto* pod : found->second)
        if (selector.matches(pod->labels())) rule.pods.insert(pod->address);
    };
    if (!peer.has_namespace_selector()) return add_pods(own_ns);
    const auto namespaces = selector_of(peer.namespace_selector());
    for (const auto& [name, object] : state_.namespaces)
      if (namespaces.matches(object->meta().labels())) add_pods(name);
  }

  // A block of the other family adds nothing.
  void add_block(ranges& to, const IPBlock& block) const {
    const auto whole = parse_range(block.cidr(), *state_.family);
    if (!whole) return;
    ranges of_block;
    of_block.add(whole->first, whole->second);
    for (const auto& except : block.except())
      if (const auto part = parse_range(except, *state_.family))
        of_block.remove(part->first, part->second);
    to.add(of_block);
  }

  void add_port(policy_rule& rule, const NetworkPolicyPort& port, direction side,
                const pod_list& selected) const {
    const std::string protocol = port.protocol().empty() ? "TCP" : port.protocol();
    if (port.has_port() && port.port().type() != 0) {
      rule.by_name = true;
      const auto add_named = [&](const policy_pod& pod) {
        for (const auto number : pod.ports_named(port.port().str_val(), protocol))
          rule.named.insert({pod.address, protocol, number});
      };
      // The destination pod: for ingress the selected one, for egress its peer.
      if (side == direction::ingress)
        for (const auto* pod : selected)
          add_named(*pod);
      else
        for (const auto& pod : state_.pods)
          if (rule.any_peer || rule.pods.contains(pod.address) || rule.blocks.contains(pod.address))
            add_named(pod);
      return;
    }
    rule.by_number = true;
    if (!port.has_port()) return rule.numbers[protocol].add(0, last_port);
    const auto first = static_cast<std::uint32_t>(port.port().int_val());
    const auto last = port.has_end_port() ? static_cast<std::uint32_t>(port.end_port()) : first;
    if (first <= last && last <= last_port) rule.numbers[protocol].add(first, last);
  }

  const policy_state& state_;
  std::unordered_map<std::string, pod_list> pods_of_;  // by namespace
  node_rules made_;
};

}  // namespace

node_rules compile(const policy_state& state) {
  return compiler{state}.run();
}

}  // namespace troupe::actors::policies
