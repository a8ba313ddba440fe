// The order in which the containers of a pod start and end (kubernetes: kuberuntime_manager.go,
// computePodActions; kuberuntime_termination_order.go). Pure. `all` holds the pod's containers in
// start order: ephemeral ones, initContainers, the main ones.
#pragma once

#include <string>
#include <vector>

#include "actors/kubelet/pods/pod_containers.hpp"

namespace troupe::actors {

// The pod's outcome is decided: an init container has failed for good, or all main containers have
// ended for good. Containers that still run must be ended.
bool is_outcome_decided(const api::core::v1::Pod& pod, const std::vector<container_record>& all);

// Whether the containers after `record` may start. An init container must have succeeded. A sidecar
// must have started; a sidecar that restarts does not hold up containers that have already started
// in this sandbox.
bool may_start_next(const container_record& record, const std::vector<container_record>& all,
                    const std::string& sandbox);

// Whether a container of a terminating pod may be stopped now: sidecars stop after the main
// containers, in reverse order.
bool has_turn_to_end(const container_record& record, const std::vector<container_record>& all);

}  // namespace troupe::actors
