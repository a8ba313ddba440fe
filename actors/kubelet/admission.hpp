// Whether a kubelet takes a pod that names its node. The scheduler has asked the same before it
// bound the pod; whoever writes spec.nodeName into a pod has asked nobody. Pure.
#pragma once

#include <optional>

#include "actors/kubelet/pod_containers.hpp"
#include "actors/scheduler/cluster_view.hpp"

namespace troupe::actors {

// Has begun here, is to end, or has ended: nothing is left to ask.
bool admitted_before(const api::core::v1::Pod& pod);

// Why the pod cannot be on this node, beside the pods that are; nothing when it can. What the node
// does not count (extended resources, disk) is not missing there
// (kubernetes: lifecycle/predicate.go).
std::optional<pod_verdict> rejection(const scheduler::pod_info& pod,
                                     const scheduler::node_info& node);

// The status of a pod that was rejected.
api::core::v1::PodStatus rejected_status(const api::core::v1::Pod& pod, const pod_verdict& why);

}  // namespace troupe::actors
