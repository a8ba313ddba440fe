// Whether a kubelet admits a pod that names its node. The scheduler checks the same before it binds
// the pod; a client that writes spec.nodeName itself has not. Pure.
#pragma once

#include <optional>

#include "actors/kubelet/pods/pod_containers.hpp"
#include "actors/scheduler/framework/cluster_view.hpp"

namespace troupe::actors {

// The pod has started here, is terminating, or has finished: it needs no admission check.
bool admitted_before(const api::core::v1::Pod& pod);

// Returns the reason why the node cannot admit the pod; nothing if it can. A resource that the
// node does not count (extended resources, disk) is ignored (kubernetes:
// lifecycle/predicate.go).
std::optional<pod_failure> rejection(const scheduler::pod_info& pod,
                                     const scheduler::node_info& node);

// Returns why the node has too little of a resource in `wants`, with reason OutOfcpu and the like.
std::optional<pod_failure> missing_resource(const scheduler::resources& wants,
                                            const scheduler::node_info& node);

// The status of a pod that was rejected.
api::core::v1::PodStatus rejected_status(const api::core::v1::Pod& pod, const pod_failure& failure);

}  // namespace troupe::actors
