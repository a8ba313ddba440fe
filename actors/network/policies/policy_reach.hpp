// Whether network policies allow one connection, and which of them decide: evaluated from the
// objects, rule by rule, to explain why one pod cannot reach another. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "actors/network/policies/policy_state.hpp"

namespace troupe::actors::policies {

// An end that is not a pod is known by its address only.
struct connection_end {
  const policy_pod* pod = nullptr;
  ip_number address = 0;
};

struct connection {
  const address_family* family = &services::family_v4;
  connection_end from = {}, to = {};
  std::string protocol = "TCP";
  std::uint32_t port = 0;
};

struct admitting_rule {
  std::string policy;  // "NAMESPACE/NAME"
  int index = 0;       // in the policy's list of rules for that direction
};

// The result of the policies of one end.
struct side_answer {
  std::vector<std::string> selected_by;  // "NAMESPACE/NAME"; empty: the end is not isolated
  std::optional<admitting_rule> admitted_by;

  bool admits() const { return selected_by.empty() || admitted_by; }
};

// Evaluates the end that the connection leaves (egress) or reaches (ingress). An end that is not a
// pod is not isolated.
side_answer evaluate(const policy_state& state, direction side, const connection& asked);

}  // namespace troupe::actors::policies
