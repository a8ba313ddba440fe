// How many pods of a PodDisruptionBudget may be evicted now. Pure functions.
//
// kubernetes: pkg/controller/disruption.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "api/object/object.hpp"
#include "api/schema/policy_budget.pb.h"

namespace troupe::actors::disruption {

// The replicas that the controller of a pod is to have; `uid` tells whether two pods have the same
// one. Nothing: the pod has no controller that can be scaled.
struct controller_scale {
  std::string uid;
  std::int32_t replicas = 0;
};
using scale_lookup = std::function<std::optional<controller_scale>(const api::object& pod)>;

struct budget_plan {
  api::policy::v1::PodDisruptionBudgetStatus status;
  // Evictions that were allowed and did not come in time, by pod: they do not count any more.
  std::vector<std::string> overdue = {};
  // When the next of the others will be overdue, in seconds since the epoch; 0: never.
  std::int64_t look_again_at = 0;
  // Pods that no controller stands behind, where the budget is a share.
  std::size_t unmanaged = 0;
};

// The status of the budget for these pods, which its selector selects.
budget_plan plan_budget(const api::policy::v1::PodDisruptionBudget& budget,
                        const std::vector<api::object_ptr>& pods, const scale_lookup& scale_of,
                        std::int64_t now_seconds);

}  // namespace troupe::actors::disruption
