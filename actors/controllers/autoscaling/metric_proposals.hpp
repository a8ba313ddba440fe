// The number of pods that each metric of an autoscaler proposes, and its status. Pure functions.
//
// Object, pod and external metrics come from custom.metrics.k8s.io and external.metrics.k8s.io. If
// no server provides these APIs, each such metric is invalid, as upstream.
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
  std::string name;  // description for messages
  api::autoscaling::v2::MetricStatus status;
};

struct metric_failure {
  std::string reason;   // of condition and event
  std::string problem;  // what failed
  std::string message;  // the same, with the name of the metric
};

// The inputs of one sync.
struct metric_view {
  const std::vector<measured_pod>& pods;
  metric_values reading;      // of a metric that another server provides
  std::int32_t current = 0;   // pods in the target's spec
  std::int32_t existing = 0;  // pods in the target's status
  std::int64_t now_seconds = 0;
};

tl::expected<metric_proposal, metric_failure> propose_replicas(
    const api::autoscaling::v2::HorizontalPodAutoscaler& autoscaler,
    const api::autoscaling::v2::MetricSpec& metric, const metric_view& seen);

}  // namespace troupe::actors::autoscaling
