// The number of pods for a metric with one value for all pods: of an object, or external. Pure
// functions.
//
// kubernetes: pkg/controller/podautoscaler/replica_calculator.go, GetObjectMetricReplicas and its
// variants.
#pragma once

#include <cstdint>
#include <vector>

#include "actors/controllers/autoscaling/replica_count.hpp"

namespace troupe::actors::autoscaling {

struct measured_value {
  std::int64_t milli, target_milli;
  tolerances tolerance;
};

// The target is for the value itself: the number of ready pods is multiplied by the ratio of value
// to target.
result<std::int32_t> replicas_for_value(const measured_value& value, std::int32_t current,
                                        const std::vector<measured_pod>& pods);
// The target is for each pod's share; `average_milli` is the average over `current` pods.
replica_proposal replicas_for_share(const measured_value& value, std::int32_t current);

}  // namespace troupe::actors::autoscaling
