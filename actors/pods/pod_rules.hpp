// What a pod needs next, from the pod and its node alone. Pure.
#pragma once

#include <memory>

#include "api/schema/core_node.pb.h"
#include "api/schema/core_pod.pb.h"
#include "runtime/clock.hpp"

namespace troupe::actors {

enum class pod_need {
  nothing,
  node,      // ask the scheduler
  removal,   // nobody else will end it
  eviction,  // it does not tolerate its node's taints (any longer)
};

struct pod_decision {
  pod_need need = pod_need::nothing;
  // How long after its cause (the taint was added, the node was gone) it becomes due.
  runtime::duration due{0};
};

// `node` is the pod's, null when it does not exist (or the pod has none).
pod_decision decide(const api::core::v1::Pod& pod, const api::core::v1::Node* node);

// The pod with its condition Ready set to False, when it says True on a node that is not ready:
// what it last said is no longer known to hold. Null when it is right as it is. kubernetes:
// pkg/controller/util/node, MarkPodsNotReady.
std::unique_ptr<api::core::v1::Pod> marked_not_ready(const api::core::v1::Pod& pod,
                                                     const api::core::v1::Node& node,
                                                     runtime::wall_time now);

bool terminated(const api::core::v1::Pod& pod);

// The pod as one that has failed, before it is removed without a kubelet: while a finalizer holds
// it, its controller must not wait for its end. Null when it has ended. kubernetes:
// pkg/controller/podgc, markFailedAndDeletePodWithCondition.
std::unique_ptr<api::core::v1::Pod> marked_failed(const api::core::v1::Pod& pod, bool node_vanished,
                                                  runtime::wall_time now);

}  // namespace troupe::actors
