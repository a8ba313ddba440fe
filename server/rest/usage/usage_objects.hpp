// NodeMetrics and PodMetrics from the nodes' measurements. Pure.
#pragma once

#include <optional>

#include "actors/kubelet/runtime/usage.hpp"
#include "api/error.hpp"
#include "api/object/object.hpp"
#include "api/values/timestamp.hpp"

namespace troupe::server {

// A requested Node or Pod, with the measurements of its node.
struct measured_object {
  const api::object& object;
  const actors::node_usage& usage;
  api::moment now;
};

// With the labels of the Node. Null if the node was not measured.
api::object_ptr node_metrics(const measured_object& of);
// With the labels of the Pod, and the measured containers in the order of its spec. The window is
// the longest of theirs. Null if none was measured.
//
// metrics-server: pkg/api/pod.go, pkg/storage/pod.go.
api::object_ptr pod_metrics(const measured_object& of);

// kubernetes-sigs/metrics-server, pkg/api: the error for an existing object without metrics, as
// `podmetrics.metrics.k8s.io "default/web" not found`.
api::error no_metrics(const api::object& object);

}  // namespace troupe::server
