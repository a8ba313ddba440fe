// The plan of one sync of an autoscaler: the number of pods, the conditions, the measured metrics
// and the events. Pure except for the history (scaling_rules.hpp).
//
// kubernetes: pkg/controller/podautoscaler/horizontal.go, reconcileAutoscaler.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "actors/controllers/autoscaling/replica_count.hpp"
#include "actors/controllers/autoscaling/scaling_rules.hpp"
#include "api/schema/autoscaling_v1.pb.h"
#include "api/schema/autoscaling_v2.pb.h"
#include "runtime/clock.hpp"

namespace troupe::actors::autoscaling {

// The scale target.
struct target_view {
  api::autoscaling::v1::Scale scale;
  std::vector<measured_pod> pods = {};  // that match the selector of `scale`
  // Autoscalers, including this one, whose targets select one of these pods: names, sorted.
  std::vector<std::string> autoscalers = {};
  // Readings of the metrics that other servers provide, by index in the spec.
  std::map<int, metric_values> readings = {};
};

struct autoscaler_event {
  bool warning = false;
  std::string reason, message;
};

struct autoscaler_plan {
  api::autoscaling::v2::HorizontalPodAutoscalerStatus status;
  std::optional<std::int32_t> rescale_to;
  std::vector<autoscaler_event> events = {};  // recorded after the plan is carried out
};

struct sync_time {
  runtime::time_point now;
  runtime::wall_time wall_now;
};

// `target`: the target, or the reason why there is none.
autoscaler_plan plan_scaling(const api::autoscaling::v2::HorizontalPodAutoscaler& autoscaler,
                             const result<target_view>& target, scaling_history& history,
                             const sync_time& at);

// The plan if the target rejected the new number.
autoscaler_plan refused(const api::autoscaling::v2::HorizontalPodAutoscaler& autoscaler,
                        autoscaler_plan plan, const std::string& problem, const sync_time& at);

}  // namespace troupe::actors::autoscaling
