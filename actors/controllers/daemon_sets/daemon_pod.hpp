// Pods of a DaemonSet: what is added to the template, how a pod is tied to its node, and which
// nodes are to have one (kubernetes: daemon/util and NodeShouldRunDaemonPod). Pure.
#pragma once

#include <memory>
#include <string>

#include "actors/scheduler/framework/pod_info.hpp"
#include "api/object/object.hpp"
#include "api/schema/apps_sets.pb.h"
#include "api/schema/core_node.pb.h"
#include "api/schema/core_pod.pb.h"

namespace troupe::actors::daemon_sets {

using api::apps::v1::DaemonSet;

// A pod from the template with the tolerations of daemons, for no node yet. It has generateName,
// and no owner reference.
std::unique_ptr<api::core::v1::Pod> make_pod(const DaemonSet& set, const std::string& hash);
// Required node affinity on metadata.name, in place of that of the template: the scheduler binds it
// there and nowhere else.
void tie_to_node(api::core::v1::Pod& pod, const std::string& node);
// Of a pod that is bound or tied; empty when it is neither.
const std::string& node_of(const api::core::v1::Pod& pod);

struct node_fit {
  bool runs = false;   // is to have a pod
  bool keeps = false;  // may keep one that it has
};

// By nodeName, nodeSelector, required node affinity and taints of the pod of make_pod().
node_fit fit(const scheduler::pod_info& pod, const api::object& node);

}  // namespace troupe::actors::daemon_sets
