// The changes that the control plane makes to a Node: conditions of a silent node, and taints
// derived from its conditions. Pure functions.
//
// kubernetes: pkg/controller/nodelifecycle/node_lifecycle_controller.go.
#pragma once

#include <memory>
#include <string>

#include "api/schema/core_node.pb.h"
#include "runtime/clock.hpp"

namespace troupe::actors {

inline constexpr const char* taint_not_ready = "node.kubernetes.io/not-ready";
inline constexpr const char* taint_unreachable = "node.kubernetes.io/unreachable";
inline constexpr const char* taint_out_of_service = "node.kubernetes.io/out-of-service";

struct node_evaluation {
  bool silent = false;     // no Lease renewal or status for the grace period
  bool may_evict = false;  // the pods may be evicted (NoExecute taints)
};

// The corrected Node; null if it is correct. A silent node's conditions become Unknown; a node that
// is not ready gets the taints not-ready or unreachable, pressure and `unschedulable` theirs.
// Taints with other keys are not changed.
std::unique_ptr<api::core::v1::Node> corrected(const api::core::v1::Node& node,
                                               const node_evaluation& evaluated,
                                               runtime::wall_time now);

enum class readiness { ready, not_ready, unknown, missing };
readiness readiness_of(const api::core::v1::Node& node);

// Whether the taint not-ready or unreachable is there with effect NoExecute.
bool has_eviction_taint(const api::core::v1::Node& node);

// Whether an administrator has tainted the node as shut down for good: its pods are deleted without
// waiting for it. Only if the node is not ready, too. kubernetes: pkg/controller/podgc,
// gcTerminating.
bool is_out_of_service(const api::core::v1::Node& node);

// Nodes of one zone tend to fail together. Empty for a node without zone labels.
std::string zone_of(const api::core::v1::Node& node);

}  // namespace troupe::actors
