#include "actors/scheduler/registry.hpp"

#include "actors/scheduler/plugins/plugins.hpp"
#include "api/invariant.hpp"

namespace troupe::actors::scheduler {

namespace {

std::map<std::string, plugin_factory>& registry() {
  static std::map<std::string, plugin_factory> all{
      {"SchedulingGates", make_scheduling_gates},
      {"PrioritySort", make_priority_sort},
      {"NodeUnschedulable", make_node_unschedulable},
      {"NodeName", make_node_name},
      {"NodePorts", make_node_ports},
      {"TaintToleration", make_taint_toleration},
      {"NodeAffinity", make_node_affinity},
      {"NodeResourcesFit", make_node_resources_fit},
      {"NodeResourcesBalancedAllocation", make_balanced_allocation},
      {"PodTopologySpread", make_topology_spread},
      {"InterPodAffinity", make_inter_pod_affinity},
      {"DefaultPreemption", make_default_preemption},
  };
  return all;
}

}  // namespace

const std::map<std::string, plugin_factory>& known_plugins() {
  return registry();
}

registration::registration(const std::string& name, plugin_factory factory) {
  const bool fresh = registry().emplace(name, std::move(factory)).second;
  api::ensure(fresh, "two scheduler plugins have one name");
}

}  // namespace troupe::actors::scheduler
