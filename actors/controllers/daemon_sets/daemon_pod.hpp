// Pods of a DaemonSet: additions to the template, the binding to a node, and the choice of nodes
// (kubernetes: daemon/util and NodeShouldRunDaemonPod). Pure functions.
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

// Creates a pod from the template with the tolerations of daemons and without a node. It has
// generateName and no owner reference.
std::unique_ptr<api::core::v1::Pod> make_pod(const DaemonSet& set, const std::string& hash);
// Replaces the template's required node affinity by one on metadata.name: the scheduler can bind
// the pod only to this node.
void require_node(api::core::v1::Pod& pod, const std::string& node);
// The node of a pod that is bound or has the affinity; empty if it has neither.
const std::string& node_of(const api::core::v1::Pod& pod);

struct node_fit {
  bool runs = false;   // should get a pod
  bool keeps = false;  // may keep an existing pod
};

// Checks nodeName, nodeSelector, required node affinity and taints for a pod of make_pod().
node_fit fit(const scheduler::pod_info& pod, const api::object& node);

}  // namespace troupe::actors::daemon_sets
