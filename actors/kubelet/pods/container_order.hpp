// In which order the containers of a pod start and end (kubernetes: kuberuntime_manager.go,
// computePodActions; kuberuntime_termination_order.go). Pure. `all` has the pod's containers in the
// order of their start: ephemeral ones, those of initContainers, the others.
#pragma once

#include <string>
#include <vector>

#include "actors/kubelet/pods/pod_containers.hpp"

namespace troupe::actors {

// No container decides any more how the pod ends: an init container has failed for good, or the
// main ones have all ended for good. What still runs is to be ended.
bool is_over(const api::core::v1::Pod& pod, const std::vector<container_record>& all);

// Whether the containers after `record` may be started. An init container must have succeeded; a
// sidecar must have started, but holds up nothing that has begun in this sandbox: it may be on its
// way to a restart.
bool lets_next_start(const container_record& record, const std::vector<container_record>& all,
                     const std::string& sandbox);

// Whether a container of a pod that ends may be told to end: sidecars go after the main
// containers, the last one first.
bool has_turn_to_end(const container_record& record, const std::vector<container_record>& all);

}  // namespace troupe::actors
