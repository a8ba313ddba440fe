// What the control plane writes on a node: that it is silent, and the taints that follow from its
// conditions. Pure functions.
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

struct node_judgement {
  bool silent = false;     // neither lease nor status has come for the grace period
  bool may_evict = false;  // the pods may be sent away (taints with NoExecute)
};

// The node as it should be; null when it is so already. A silent node's conditions become Unknown;
// what is not ready gets the taints not-ready or unreachable, pressure and `unschedulable` theirs.
// Taints of other keys are left alone.
std::unique_ptr<api::core::v1::Node> corrected(const api::core::v1::Node& node,
                                               const node_judgement& judged,
                                               runtime::wall_time now);

enum class readiness { ready, not_ready, unknown, unsaid };
readiness readiness_of(const api::core::v1::Node& node);

// True when one of not-ready and unreachable is there with NoExecute.
bool sends_pods_away(const api::core::v1::Node& node);

// Somebody who knows says that the machine is off and does not come back by itself: its pods need
// not be waited for. Only where the node is not ready, too.
// kubernetes: pkg/controller/podgc, gcTerminating.
bool is_out_of_service(const api::core::v1::Node& node);

// Nodes of one zone fail together. Empty for nodes without zone labels.
std::string zone_of(const api::core::v1::Node& node);

}  // namespace troupe::actors
