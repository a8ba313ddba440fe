// Whether network policies admit one connection, and which of them say so: judged by the objects,
// rule by rule, for whoever asks why one pod does not reach another. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "actors/network/policies/policy_state.hpp"

namespace troupe::actors::policies {

// One end may be no pod: it is known by its address alone.
struct connection_end {
  const policy_pod* pod = nullptr;
  ipv4 address = 0;
};

struct connection {
  connection_end from = {}, to = {};
  std::string protocol = "TCP";
  std::uint32_t port = 0;
};

struct admitting_rule {
  std::string policy;  // "NAMESPACE/NAME"
  int index = 0;       // in the list of its direction
};

// What the policies of one end say.
struct side_answer {
  std::vector<std::string> selected_by;  // "NAMESPACE/NAME"; none: the end is free
  std::optional<admitting_rule> admitted_by;

  bool admits() const { return selected_by.empty() || admitted_by; }
};

// Of the end that the connection leaves (egress) or reaches (ingress). An end that is no pod is
// free.
side_answer judge(const policy_state& state, direction side, const connection& asked);

}  // namespace troupe::actors::policies
