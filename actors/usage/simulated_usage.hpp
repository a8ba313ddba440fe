// The resource usage of pods on simulated nodes, from annotations and the policy: an amount for
// each container, or a load that all pods of a controller share. docs/simulation.md is the user
// documentation. Pure functions of the state and the time.
#pragma once

#include <set>
#include <string>

#include "actors/kubelet/runtime/usage_questions.hpp"
#include "actors/simulation/policy.hpp"
#include "api/schema/core_node.pb.h"
#include "persistence/tree/snapshot.hpp"
#include "runtime/clock.hpp"

namespace troupe::actors {

bool is_simulated(const api::core::v1::Node& node);

// Those of the nodes that have a pod with a usage.
usage_by_node simulated_usage(const persistence::snapshot& state,
                              const std::set<std::string>& nodes, runtime::wall_time now,
                              const simulated::policy* policy = nullptr);

}  // namespace troupe::actors
