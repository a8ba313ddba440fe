// When a simulated node is silent, as its annotations and the policy say: it neither shows that it
// is alive nor does anything for its pods, and goes on with them when it returns.
// docs/simulation.md is for users. Pure.
#pragma once

#include <optional>

#include "actors/simulation/policy.hpp"
#include "api/schema/core_node.pb.h"
#include "runtime/clock.hpp"

namespace troupe::actors {

struct node_state {
  bool down = false;
  std::optional<runtime::wall_time> until;  // absent: until its annotations change
};

// A value that makes no sense counts as absent; so does a policy that is null.
node_state state_of(const api::core::v1::Node& node, runtime::wall_time now,
                    const simulated::policy* policy = nullptr);

}  // namespace troupe::actors
