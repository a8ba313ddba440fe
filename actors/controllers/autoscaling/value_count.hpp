// How many pods a value asks for that is one for all of them: of an object, or from outside the
// cluster. Pure.
//
// kubernetes: pkg/controller/podautoscaler/replica_calculator.go, GetObjectMetricReplicas and its
// like.
#pragma once

#include <cstdint>
#include <vector>

#include "actors/controllers/autoscaling/replica_count.hpp"

namespace troupe::actors::autoscaling {

struct measured_value {
  std::int64_t milli, target_milli;
  tolerances tolerance;
};

// The target is for the value itself: the pods that are ready are as many times what they should
// be.
result<std::int32_t> replicas_for_value(const measured_value& value, std::int32_t current,
                                        const std::vector<measured_pod>& pods);
// The target is for each pod's share; `average_milli` is that of the `current` ones.
replica_proposal replicas_for_share(const measured_value& value, std::int32_t current);

}  // namespace troupe::actors::autoscaling
