// The limits of a change of the number of pods: stabilization windows, policies, minimum and
// maximum. Pure except for the history, which the caller owns.
//
// kubernetes: pkg/controller/podautoscaler/horizontal.go, normalizeDesiredReplicas and
// normalizeDesiredReplicasWithBehaviors.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "api/schema/autoscaling_v2.pb.h"
#include "runtime/clock.hpp"

namespace troupe::actors::autoscaling {

// The history of one autoscaler. It is not stored: after a crash it is empty
// (docs/decisions/0062-autoscaling.md).
struct scaling_history {
  struct entry {
    runtime::time_point at;
    std::int32_t count;
  };
  std::vector<entry> recommendations;  // before limits, the oldest first
  std::vector<entry> added, removed;   // pods
};

struct scaling_request {
  std::int32_t current = 0, desired = 0;
  std::int32_t least = 1, greatest = 1;
};

struct scaling_verdict {
  struct note {
    std::string_view reason, message;
  };
  std::int32_t replicas = 0;
  note able;  // of AbleToScale, whose status is True
  bool limited = false;
  note limit;  // of ScalingLimited
};

// Adds the recommendation to the history.
scaling_verdict limit_scaling(const api::autoscaling::v2::HorizontalPodAutoscalerSpec& spec,
                              const scaling_request& request, scaling_history& history,
                              runtime::time_point now);

// Called in the first sync: the current number is the first recommendation.
void begin_history(scaling_history& history, std::int32_t current, runtime::time_point now);
// Records a change that was carried out.
void note_scaled(const api::autoscaling::v2::HorizontalPodAutoscalerSpec& spec,
                 scaling_history& history, std::int32_t from, std::int32_t to,
                 runtime::time_point now);

}  // namespace troupe::actors::autoscaling
