// What an autoscaler decides in one look: the number of pods, its conditions, what it measured, and
// what an operator is told. Pure but for the history (scaling_rules.hpp).
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

// What there is to scale.
struct target_view {
  api::autoscaling::v1::Scale scale;
  std::vector<measured_pod> pods = {};  // that its selector matches
  // Autoscalers, itself among them, whose targets select one of these pods: NAME, sorted.
  std::vector<std::string> autoscalers = {};
  // Of those metrics of the spec that other servers measure, by their place there.
  std::map<int, metric_values> readings = {};
};

struct autoscaler_event {
  bool warning = false;
  std::string reason, message;
};

struct autoscaler_plan {
  api::autoscaling::v2::HorizontalPodAutoscalerStatus status;
  std::optional<std::int32_t> rescale_to;
  std::vector<autoscaler_event> events = {};  // to be told once the plan is carried out
};

struct look_time {
  runtime::time_point now;
  runtime::wall_time wall_now;
};

// `target`: an error says why there is none.
autoscaler_plan plan_scaling(const api::autoscaling::v2::HorizontalPodAutoscaler& autoscaler,
                             const result<target_view>& target, scaling_history& history,
                             const look_time& at);

// The plan when the target refused the new number.
autoscaler_plan refused(const api::autoscaling::v2::HorizontalPodAutoscaler& autoscaler,
                        autoscaler_plan plan, const std::string& problem, const look_time& at);

}  // namespace troupe::actors::autoscaling
