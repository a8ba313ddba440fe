// NodeMetrics and PodMetrics of what nodes have measured. Pure.
#pragma once

#include <optional>

#include "actors/kubelet/runtime/usage.hpp"
#include "api/error.hpp"
#include "api/object/object.hpp"
#include "api/values/timestamp.hpp"

namespace troupe::server {

// A Node or Pod that somebody asks about, and what its node has measured.
struct measured_object {
  const api::object& object;
  const actors::node_usage& usage;
  api::moment now;
};

// With the labels of the Node. Null where the node could not tell.
api::object_ptr node_metrics(const measured_object& of);
// With the labels of the Pod, and its containers in the order of its spec, as far as they were
// measured. The time of all of them is the longest. Null where there is none of them.
//
// metrics-server: pkg/api/pod.go, pkg/storage/pod.go.
api::object_ptr pod_metrics(const measured_object& of);

// kubernetes-sigs/metrics-server, pkg/api: what is there and was not measured has no metrics, as
// `podmetrics.metrics.k8s.io "default/web" not found`.
api::error no_metrics(const api::object& object);

}  // namespace troupe::server
