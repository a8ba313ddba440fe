// What each metric of an autoscaler asks for, and what its status says of it. Pure.
//
// Metrics of objects, of pods and from outside the cluster come from custom.metrics.k8s.io and
// external.metrics.k8s.io. Where nobody serves these, each is invalid, as upstream has it.
//
// kubernetes: pkg/controller/podautoscaler/horizontal.go, computeReplicasForMetric.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "actors/controllers/autoscaling/replica_count.hpp"
#include "api/schema/autoscaling_v2.pb.h"

namespace troupe::actors::autoscaling {

struct metric_proposal {
  std::int32_t replicas = 0;
  std::string name;  // for people
  api::autoscaling::v2::MetricStatus status;
};

struct metric_failure {
  std::string reason;   // of condition and event
  std::string problem;  // what was not possible
  std::string message;  // the same, with the metric that it was for
};

// What is known at a look.
struct metric_view {
  const std::vector<measured_pod>& pods;
  metric_values reading;      // of a metric that another server measures
  std::int32_t current = 0;   // pods that the target asks for
  std::int32_t existing = 0;  // and those that it has
  std::int64_t now_seconds = 0;
};

tl::expected<metric_proposal, metric_failure> propose_replicas(
    const api::autoscaling::v2::HorizontalPodAutoscaler& autoscaler,
    const api::autoscaling::v2::MetricSpec& metric, const metric_view& seen);

}  // namespace troupe::actors::autoscaling
