// Whether a kubelet takes a pod that names its node. The scheduler checks the same before it
// binds the pod; a client that writes spec.nodeName itself has checked nothing. Pure.
#pragma once

#include <optional>

#include "actors/kubelet/pods/pod_containers.hpp"
#include "actors/scheduler/framework/cluster_view.hpp"

namespace troupe::actors {

// It has started here, is to end, or has ended: nothing is left to check.
bool admitted_before(const api::core::v1::Pod& pod);

// The reason why the node cannot take the pod; nothing when it can. A resource that the node
// does not count (extended resources, disk) does not count here
// (kubernetes: lifecycle/predicate.go).
std::optional<pod_failure> rejection(const scheduler::pod_info& pod,
                                     const scheduler::node_info& node);

// Why the node has no room for a pod that wants so much, with reason OutOfcpu and the like.
std::optional<pod_failure> missing_resource(const scheduler::resources& wants,
                                            const scheduler::node_info& node);

// The status of a pod that was rejected.
api::core::v1::PodStatus rejected_status(const api::core::v1::Pod& pod, const pod_failure& failure);

}  // namespace troupe::actors
