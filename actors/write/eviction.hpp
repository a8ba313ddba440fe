// Evictions that clients ask for: within the PodDisruptionBudgets of the pod. The budget's status
// loses one of its evictions in the transaction that begins the deletion of the pod, so that no two
// evictions use the same one.
//
// Our own evictions (taints, preemption) do not ask the budgets, as upstream's.
// kubernetes: pkg/registry/core/pod/storage, eviction.go.
#pragma once

#include "actors/write/commands.hpp"
#include "api/schema/policy_budget.pb.h"

namespace troupe::actors {

// 429 where a budget does not allow it now, with the cause DisruptionBudget; 500 where the pod has
// several budgets.
api::expected<proposal> propose_eviction(const persistence::snapshot& state, const evict& command,
                                         runtime::wall_time now);

// The condition DisruptionAllowed, as the number of allowed disruptions says.
void note_disruptions_allowed(api::policy::v1::PodDisruptionBudgetStatus& status,
                              std::int64_t now_seconds);

}  // namespace troupe::actors
