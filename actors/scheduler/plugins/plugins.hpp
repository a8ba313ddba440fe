// The plugins of this room; what each of them demands or prefers stands at its definition.
#pragma once

#include <memory>

#include "actors/scheduler/framework/framework.hpp"

namespace troupe::api::core::v1 {
class Taint;
}

namespace troupe::actors::scheduler {

std::unique_ptr<plugin> make_scheduling_gates();
std::unique_ptr<plugin> make_priority_sort();
std::unique_ptr<plugin> make_node_unschedulable();
std::unique_ptr<plugin> make_node_name();
std::unique_ptr<plugin> make_node_ports();
std::unique_ptr<plugin> make_taint_toleration();
std::unique_ptr<plugin> make_node_affinity();
std::unique_ptr<plugin> make_node_resources_fit();
std::unique_ptr<plugin> make_balanced_allocation();
std::unique_ptr<plugin> make_topology_spread();
std::unique_ptr<plugin> make_inter_pod_affinity();
std::unique_ptr<plugin> make_default_preemption();

// The first taint of the node that keeps the pod away; null: none does.
const api::core::v1::Taint* untolerated_taint(const pod_info& pod, const node_info& node);

}  // namespace troupe::actors::scheduler
