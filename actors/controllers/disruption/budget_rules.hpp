// The number of pods that a PodDisruptionBudget currently allows to evict. Pure functions.
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

// The scale of a pod's controller; pods with the same controller have the same `uid`. Nothing if
// the pod has no controller with a scale.
struct controller_scale {
  std::string uid;
  std::int32_t replicas = 0;
};
using scale_lookup = std::function<std::optional<controller_scale>(const api::object& pod)>;

struct budget_plan {
  api::policy::v1::PodDisruptionBudgetStatus status;
  // Allowed evictions that did not happen in time, by pod: they no longer count.
  std::vector<std::string> overdue = {};
  // The time at which the next pending eviction expires, seconds since the epoch; 0: never.
  std::int64_t recheck_at = 0;
  // Pods without a controller; counted if the budget is a percentage.
  std::size_t unmanaged = 0;
};

// Calculates the budget's status; `pods` are those that its selector matches.
budget_plan plan_budget(const api::policy::v1::PodDisruptionBudget& budget,
                        const std::vector<api::object_ptr>& pods, const scale_lookup& scale_of,
                        std::int64_t now_seconds);

}  // namespace troupe::actors::disruption
