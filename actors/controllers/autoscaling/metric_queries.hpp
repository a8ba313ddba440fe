// The queries of an autoscaler's metrics to the servers of metrics APIs. Pure functions.
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

// True for pod, object and external metrics, which another server provides.
bool is_foreign(const api::autoscaling::v2::MetricSpec& metric);

// `pods`: the selector of the target. The error says why there is no query.
result<metric_query> query_for(const api::autoscaling::v2::MetricSpec& metric,
                               const std::string& ns, const std::string& pods);

// The query for the pods' usage if another server serves metrics.k8s.io; nothing if we serve it.
std::optional<metric_query> usage_query(const persistence::snapshot& state, const std::string& ns,
                                        const std::string& pods);

// Converts the answer to measured pods of the target.
std::vector<measured_pod> measured_by(const metric_values& answer,
                                      const std::vector<api::object_ptr>& pods);

}  // namespace troupe::actors::autoscaling
