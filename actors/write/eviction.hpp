// Evictions by clients respect the pod's PodDisruptionBudgets. The transaction that starts the
// pod's deletion also takes one disruption from the budget's status, so that two evictions never
// use the same one.
//
// Our own evictions (taints, preemption) ignore the budgets, as upstream's do.
// kubernetes: pkg/registry/core/pod/storage, eviction.go.
#pragma once

#include "actors/write/commands.hpp"
#include "api/schema/policy_budget.pb.h"

namespace troupe::actors {

// Returns 429 with the cause DisruptionBudget if a budget does not allow the eviction now, 500 if
// the pod has several budgets.
api::expected<proposal> propose_eviction(const persistence::snapshot& state, const evict& command,
                                         runtime::wall_time now);

// Sets the condition DisruptionAllowed from the number of allowed disruptions.
void note_disruptions_allowed(api::policy::v1::PodDisruptionBudgetStatus& status,
                              std::int64_t now_seconds);

}  // namespace troupe::actors
