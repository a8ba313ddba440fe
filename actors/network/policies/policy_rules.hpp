// Compiles the cluster's NetworkPolicies to rules for the pods of one node. Pure; policy_table.hpp
// generates nft scripts from them, policy_reach.hpp evaluates single connections from the objects,
// and a test compares both.
//
// A pod that is selected by policies in a direction accepts only what one of their rules allows.
// Connections from the node itself to its pods are always accepted.
#pragma once

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "actors/network/policies/policy_state.hpp"

namespace troupe::actors::policies {

// A named port resolves to a different number for each pod.
struct named_port {
  ip_number address = 0;
  std::string protocol;  // "TCP", "UDP", "SCTP"
  std::uint32_t port = 0;

  friend auto operator<=>(const named_port&, const named_port&) = default;
};

// Allows connections whose peer and port match. `by_…` depend on the policy only, so that new and
// deleted pods change sets and not rules.
struct policy_rule {
  std::string policy;  // "NAMESPACE/NAME"
  bool any_peer = false, by_pods = false, by_blocks = false;
  std::set<ip_number> pods;
  ranges blocks;
  bool any_port = false, by_number = false, by_name = false;
  std::map<std::string, ranges> numbers;  // by protocol
  std::set<named_port> named;

  bool operator==(const policy_rule&) const = default;
};

// Policy, direction and index of the rule.
using rule_key = std::tuple<std::string, direction, int>;
// The rules of a pod in one direction; empty: nothing is allowed.
using rule_list = std::vector<rule_key>;

struct node_rules {
  const address_family* family = &services::family_v4;
  std::map<rule_key, policy_rule> rules = {};
  // Pods of this node that policies select; others are not isolated.
  std::map<direction, std::map<ip_number, rule_list>> guarded = {};

  bool operator==(const node_rules&) const = default;
};

node_rules compile(const policy_state& state);

}  // namespace troupe::actors::policies
