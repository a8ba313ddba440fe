// When a simulated node is down, by its annotations and the policy: it sends no heartbeat and does
// nothing for its pods, and continues with them when it returns. For users see docs/simulation.md.
// Pure.
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

// An invalid value counts as absent; the policy may be null.
node_state state_of(const api::core::v1::Node& node, runtime::wall_time now,
                    const simulated::policy* policy = nullptr);

}  // namespace troupe::actors
