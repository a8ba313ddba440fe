// The NetworkPolicies of a cluster as rules for the pods of one node. Pure; policy_table.hpp makes
// nft's text of it, policy_reach.hpp judges single connections by the objects themselves, and a
// test compares the two.
//
// A pod that policies select in a direction admits what one of their rules admits, and nothing
// else. What the node itself sends to its pods is never asked about.
#pragma once

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "actors/network/policies/policy_state.hpp"

namespace troupe::actors::policies {

// A port with a name is another one for each pod that is connected to.
struct named_port {
  ipv4 address = 0;
  std::string protocol;  // "TCP", "UDP", "SCTP"
  std::uint32_t port = 0;

  friend auto operator<=>(const named_port&, const named_port&) = default;
};

// Admits a connection whose peer and whose port it names. `by_…` follow from the policy alone, so
// that pods that come and go change sets and not rules.
struct policy_rule {
  std::string policy;  // "NAMESPACE/NAME"
  bool any_peer = false, by_pods = false, by_blocks = false;
  std::set<ipv4> pods;
  ranges blocks;
  bool any_port = false, by_number = false, by_name = false;
  std::map<std::string, ranges> numbers;  // by protocol
  std::set<named_port> named;

  bool operator==(const policy_rule&) const = default;
};

// By policy, direction and place in it.
using rule_key = std::tuple<std::string, direction, int>;
// The rules of a pod in one direction: empty admits nothing.
using rule_list = std::vector<rule_key>;

struct node_rules {
  std::map<rule_key, policy_rule> rules;
  // Pods of this node that policies select; the others are free.
  std::map<direction, std::map<ipv4, rule_list>> guarded;

  bool operator==(const node_rules&) const = default;
};

node_rules compile(const policy_state& state);

}  // namespace troupe::actors::policies
