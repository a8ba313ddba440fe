// The plugins that only read pod and node.
#include "actors/nodes/taints.hpp"
#include "actors/scheduler/plugins/plugins.hpp"
#include "api/schema/core_pod.pb.h"

namespace troupe::actors::scheduler {

namespace {

// A pod with scheduling gates waits until they are removed.
class scheduling_gates : public plugin, public pre_enqueue_plugin {
 public:
  std::string_view name() const noexcept override { return "SchedulingGates"; }
  std::uint32_t helped_by() const noexcept override { return pod_updated; }

  status pre_enqueue(const pod_info& pod) const override {
    const auto& gates = pod.body().spec().scheduling_gates();
    if (gates.empty()) return {};
    std::string names;
    for (const auto& gate : gates)
      names += (names.empty() ? "" : " ") + gate.name();
    return {status_code::unresolvable, "waiting for scheduling gates: [" + names + "]"};
  }
};

class priority_sort : public plugin, public queue_sort_plugin {
 public:
  std::string_view name() const noexcept override { return "PrioritySort"; }
  bool before(const pod_info& a, const pod_info& b) const override {
    return a.priority > b.priority;
  }
};

class node_unschedulable : public plugin, public pre_filter_plugin, public filter_plugin {
 public:
  std::string_view name() const noexcept override { return "NodeUnschedulable"; }
  std::uint32_t helped_by() const noexcept override { return node_added | node_taints_changed; }

  status pre_filter(cycle&, const pod_info&, const cluster_view& view) const override {
    return view.unschedulable_nodes() == 0 ? status{status_code::skip, {}} : status{};
  }
  status filter(const cycle&, const pod_info& pod, const node_info& node) const override {
    if (!node.unschedulable()) return {};
    api::core::v1::Taint cordon;
    cordon.set_key("node.kubernetes.io/unschedulable");
    cordon.set_effect("NoSchedule");
    if (tolerates(pod.body().spec(), cordon)) return {};
    return {status_code::unresolvable, "node(s) were unschedulable"};
  }
};

// spec.nodeName is for kubelets; an unbound pod names a node only through metadata.name in its node
// affinity.
class node_name : public plugin, public pre_filter_plugin, public filter_plugin {
 public:
  std::string_view name() const noexcept override { return "NodeName"; }
  std::uint32_t helped_by() const noexcept override { return node_added; }

  status pre_filter(cycle&, const pod_info& pod, const cluster_view&) const override {
    return pod.node().empty() ? status{status_code::skip, {}} : status{};
  }
  status filter(const cycle&, const pod_info& pod, const node_info& node) const override {
    if (pod.node() == node.name()) return {};
    return {status_code::unresolvable, "node(s) didn't match the requested node name"};
  }
};

class node_ports : public plugin, public pre_filter_plugin, public filter_plugin {
 public:
  std::string_view name() const noexcept override { return "NodePorts"; }
  std::uint32_t helped_by() const noexcept override { return node_added | pod_deleted; }

  status pre_filter(cycle&, const pod_info& pod, const cluster_view&) const override {
    return pod.ports.empty() ? status{status_code::skip, {}} : status{};
  }
  status filter(const cycle&, const pod_info& pod, const node_info& node) const override {
    if (ports_are_free(pod, node)) return {};
    return {status_code::unschedulable,
            "node(s) didn't have free ports for the requested pod ports"};
  }
};

}  // namespace

std::unique_ptr<plugin> make_scheduling_gates() {
  return std::make_unique<scheduling_gates>();
}
std::unique_ptr<plugin> make_priority_sort() {
  return std::make_unique<priority_sort>();
}
std::unique_ptr<plugin> make_node_unschedulable() {
  return std::make_unique<node_unschedulable>();
}
std::unique_ptr<plugin> make_node_name() {
  return std::make_unique<node_name>();
}
std::unique_ptr<plugin> make_node_ports() {
  return std::make_unique<node_ports>();
}

}  // namespace troupe::actors::scheduler
