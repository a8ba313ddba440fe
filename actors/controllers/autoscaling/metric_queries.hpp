// What the metrics of an autoscaler are asked for, of the servers of metrics APIs. Pure.
//
// kubernetes: pkg/controller/podautoscaler/metrics/client.go.
#pragma once

#include <optional>
#include <string>

#include "actors/controllers/autoscaling/replica_count.hpp"
#include "actors/core/metric_questions.hpp"
#include "api/schema/autoscaling_v2.pb.h"
#include "persistence/tree/snapshot.hpp"

namespace troupe::actors::autoscaling {

// It is measured by another server: of pods, an object, or from outside.
bool is_foreign(const api::autoscaling::v2::MetricSpec& metric);

// `pods`: the selector of the target. The error says why there is nothing to ask for.
result<metric_query> query_for(const api::autoscaling::v2::MetricSpec& metric,
                               const std::string& ns, const std::string& pods);

// What the pods use, where another server serves metrics.k8s.io; nothing where that is this one.
std::optional<metric_query> usage_query(const persistence::snapshot& state, const std::string& ns,
                                        const std::string& pods);

// The answer as pods of the target that were measured.
std::vector<measured_pod> measured_by(const metric_values& answer,
                                      const std::vector<api::object_ptr>& pods);

}  // namespace troupe::actors::autoscaling
