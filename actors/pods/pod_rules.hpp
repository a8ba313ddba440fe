// Decides the next action for a pod from the pod and its node. Pure functions.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "api/object/object.hpp"
#include "api/schema/core_node.pb.h"
#include "api/schema/core_pod.pb.h"
#include "runtime/clock.hpp"

namespace troupe::actors {

enum class pod_need {
  nothing,
  node,      // ask the scheduler
  removal,   // nobody else will delete it
  eviction,  // it does not tolerate its node's taints
};

struct pod_decision {
  pod_need need = pod_need::nothing;
  // The delay after the cause (the taint was added, the node was deleted).
  runtime::duration due{0};
};

// `node`: the pod's node; null if it does not exist or the pod has none.
pod_decision decide(const api::core::v1::Pod& pod, const api::core::v1::Node* node);

// The pod with condition Ready set to False if it is True on a node that is not ready: the reported
// readiness is unknown. Null if nothing changes. kubernetes: pkg/controller/util/node,
// MarkPodsNotReady.
std::unique_ptr<api::core::v1::Pod> marked_not_ready(const api::core::v1::Pod& pod,
                                                     const api::core::v1::Node& node,
                                                     runtime::wall_time now);

// Of all terminated pods, those to be removed so that `kept` are left: evicted ones first, then the
// oldest; at most `limit`, without those that only a finalizer still holds. kubernetes:
// pkg/controller/podgc, gcTerminated.
std::vector<api::object_ptr> terminated_to_remove(std::vector<api::object_ptr> all,
                                                  std::size_t kept, std::size_t limit);

// The pod in phase Failed, written before it is deleted without a kubelet: if a finalizer delays
// the deletion its controller must not wait. Null if it has already terminated. kubernetes:
// pkg/controller/podgc, markFailedAndDeletePodWithCondition.
std::unique_ptr<api::core::v1::Pod> marked_failed(const api::core::v1::Pod& pod, bool node_vanished,
                                                  runtime::wall_time now);

}  // namespace troupe::actors
