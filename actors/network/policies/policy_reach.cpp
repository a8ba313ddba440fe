#include "actors/network/policies/policy_reach.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "api/values/cidr.hpp"

namespace troupe::actors::policies {
namespace {

using api::networking::v1::IPBlock;
using api::networking::v1::NetworkPolicy;
using api::networking::v1::NetworkPolicyPeer;
using api::networking::v1::NetworkPolicyPort;

bool in_range(const std::string& text, const std::string& address) {
  const auto range = api::cidr::parse(text);
  const auto one = api::cidr::parse(address);
  return range && range->contains(*one);
}

bool in_block(const IPBlock& block, ip_number number, const address_family& family) {
  const auto address = fmt::format("{}/{}", to_string(number, family), family.bits);
  return in_range(block.cidr(), address) &&
         std::none_of(block.except().begin(), block.except().end(),
                      [&](const auto& except) { return in_range(except, address); });
}

bool is_peer(const policy_state& state, const std::string& ns, const NetworkPolicyPeer& peer,
             const connection_end& end, const address_family& family) {
  if (peer.has_ip_block()) return in_block(peer.ip_block(), end.address, family);
  if (end.pod == nullptr) return false;
  if (peer.has_pod_selector() && !selector_of(peer.pod_selector()).matches(end.pod->labels()))
    return false;
  if (!peer.has_namespace_selector()) return end.pod->ns() == ns;
  const auto found = state.namespaces.find(end.pod->ns());
  return found != state.namespaces.end() &&
         selector_of(peer.namespace_selector()).matches(found->second->meta().labels());
}

bool is_port(const NetworkPolicyPort& port, const connection& asked) {
  if ((port.protocol().empty() ? "TCP" : port.protocol()) != asked.protocol) return false;
  if (!port.has_port()) return true;
  if (port.port().type() != 0) {
    if (asked.to.pod == nullptr) return false;
    const auto numbers = asked.to.pod->ports_named(port.port().str_val(), asked.protocol);
    return std::find(numbers.begin(), numbers.end(), asked.port) != numbers.end();
  }
  const auto first = static_cast<std::uint32_t>(port.port().int_val());
  const auto last = port.has_end_port() ? static_cast<std::uint32_t>(port.end_port()) : first;
  return first <= asked.port && asked.port <= last;
}

template <class Peers, class Ports>
bool admits(const policy_state& state, const std::string& ns, const Peers& peers,
            const Ports& ports, const connection_end& peer, const connection& asked) {
  const bool peer_fits = peers.empty() || std::any_of(peers.begin(), peers.end(), [&](auto& each) {
                           return is_peer(state, ns, each, peer, *asked.family);
                         });
  return peer_fits && (ports.empty() || std::any_of(ports.begin(), ports.end(), [&](auto& each) {
                         return is_port(each, asked);
                       }));
}

// The index of the first rule that allows it; -1: none.
int admitting(const policy_state& state, const api::object& policy, direction side,
              const connection& asked) {
  const auto& spec = policy.as<NetworkPolicy>().spec();
  const auto& ns = policy.meta().namespace_();
  if (side == direction::ingress) {
    for (int i = 0; i < spec.ingress_size(); ++i)
      if (admits(state, ns, spec.ingress(i).from(), spec.ingress(i).ports(), asked.from, asked))
        return i;
  } else {
    for (int i = 0; i < spec.egress_size(); ++i)
      if (admits(state, ns, spec.egress(i).to(), spec.egress(i).ports(), asked.to, asked)) return i;
  }
  return -1;
}

}  // namespace

side_answer evaluate(const policy_state& state, direction side, const connection& asked) {
  side_answer answer;
  const auto* pod = side == direction::ingress ? asked.to.pod : asked.from.pod;
  if (pod == nullptr) return answer;
  for (const auto& policy : state.policies) {
    const auto& spec = policy->as<NetworkPolicy>().spec();
    if (policy->meta().namespace_() != pod->ns() || !guards(spec, side) ||
        !selector_of(spec.pod_selector()).matches(pod->labels()))
      continue;
    const auto name = policy->meta().namespace_() + "/" + policy->meta().name();
    answer.selected_by.push_back(name);
    const int rule = admitting(state, *policy, side, asked);
    if (rule >= 0 && !answer.admitted_by) answer.admitted_by = admitting_rule{name, rule};
  }
  return answer;
}

}  // namespace troupe::actors::policies
