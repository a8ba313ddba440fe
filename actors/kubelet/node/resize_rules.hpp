// Whether a node can allocate the resources that a running pod requests now. Pure.
//
// kubernetes: pkg/kubelet/kubelet.go, canResizePod (1.33).
#pragma once

#include <optional>
#include <string_view>

#include "actors/kubelet/pods/pod_resize.hpp"
#include "actors/scheduler/framework/cluster_view.hpp"

namespace troupe::actors {

// The pod's total requests with these container resources, ignoring those in its status.
scheduler::resources requests_with(const api::core::v1::Pod& pod,
                                   const container_resources& resources);

// `others`: the node with all its pods but this one, each with its allocated resources.
// `runtime_problem`: why the runtime cannot resize; empty: it can. Returns nothing if allocated.
std::optional<pending_resize> evaluate_resize(const api::core::v1::Pod& pod,
                                              const scheduler::node_info& others,
                                              std::string_view runtime_problem);

}  // namespace troupe::actors
