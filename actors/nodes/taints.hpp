// Which taints a pod tolerates, and for how long. Pure functions.
#pragma once

#include <chrono>
#include <optional>

#include "api/schema/core_node.pb.h"
#include "api/schema/core_pod.pb.h"
#include "api/schema/core_scheduling.pb.h"

namespace troupe::actors {

// kubernetes: component-helpers/scheduling/corev1/helpers.go, ToleratesTaint.
bool tolerates(const api::core::v1::Toleration& toleration, const api::core::v1::Taint& taint);

// Whether one of the pod's tolerations tolerates the taint.
bool tolerates(const api::core::v1::PodSpec& pod, const api::core::v1::Taint& taint);

bool has_no_execute(const api::core::v1::Node& node);

// How long the pod may stay on the node after its NoExecute taints appeared: 0 if it does not
// tolerate one of them, nothing if it may stay forever. kubernetes: pkg/controller/tainteviction,
// getMinTolerationTime.
std::optional<std::chrono::seconds> min_toleration_time(const api::core::v1::PodSpec& pod,
                                                        const api::core::v1::Node& node);

// When the first NoExecute taint was added, in seconds since the epoch; 0 if unknown.
std::int64_t tainted_since(const api::core::v1::Node& node);

}  // namespace troupe::actors
