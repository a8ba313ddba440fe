// Whether a node sets aside what a pod that runs on it asks for now. Pure.
//
// kubernetes: pkg/kubelet/kubelet.go, canResizePod (1.33).
#pragma once

#include <optional>
#include <string_view>

#include "actors/kubelet/pods/pod_resize.hpp"
#include "actors/scheduler/framework/cluster_view.hpp"

namespace troupe::actors {

// What the pod takes with these resources in its containers, whatever its status says.
scheduler::resources requests_with(const api::core::v1::Pod& pod,
                                   const container_resources& resources);

// `others`: the node with all its pods but this one, each with what is set aside for it.
// `runtime_problem`: why its runtime cannot resize; empty: it can. Nothing: it is set aside.
std::optional<pending_resize> judge_resize(const api::core::v1::Pod& pod,
                                           const scheduler::node_info& others,
                                           std::string_view runtime_problem);

}  // namespace troupe::actors
