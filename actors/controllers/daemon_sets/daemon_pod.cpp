#include "actors/controllers/daemon_sets/daemon_pod.hpp"

#include <algorithm>

#include "actors/controllers/kit/pod_template.hpp"
#include "actors/controllers/kit/revisions.hpp"
#include "actors/nodes/taints.hpp"

namespace troupe::actors::daemon_sets {

using api::core::v1::Node;
using api::core::v1::Pod;

namespace {

constexpr const char* name_field = "metadata.name";

// Replaces a toleration of the template for the same taint.
void tolerate(api::core::v1::PodSpec& pod, const std::string& taint, const std::string& effect) {
  auto& all = *pod.mutable_tolerations();
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& each) {
    return each.key() == taint && each.effect() == effect && each.operator_() == "Exists" &&
           each.value().empty();
  });
  auto& toleration = found == all.end() ? *all.Add() : *found;
  toleration.Clear();
  toleration.set_key(taint);
  toleration.set_operator_("Exists");
  toleration.set_effect(effect);
}

// Daemons stay on unhealthy nodes (kubernetes: AddOrUpdateDaemonPodTolerations).
void add_tolerations(api::core::v1::PodSpec& pod) {
  tolerate(pod, "node.kubernetes.io/not-ready", "NoExecute");
  tolerate(pod, "node.kubernetes.io/unreachable", "NoExecute");
  tolerate(pod, "node.kubernetes.io/disk-pressure", "NoSchedule");
  tolerate(pod, "node.kubernetes.io/memory-pressure", "NoSchedule");
  tolerate(pod, "node.kubernetes.io/pid-pressure", "NoSchedule");
  tolerate(pod, "node.kubernetes.io/unschedulable", "NoSchedule");
  if (pod.host_network()) tolerate(pod, "node.kubernetes.io/network-unavailable", "NoSchedule");
}

}  // namespace

std::unique_ptr<Pod> make_pod(const DaemonSet& set, const std::string& hash) {
  auto pod = pod_from_template(set.metadata(), set.spec().template_());
  (*pod->mutable_metadata()->mutable_labels())[pod_revision_label] = hash;
  add_tolerations(*pod->mutable_spec());
  return pod;
}

void require_node(Pod& pod, const std::string& node) {
  auto& required = *pod.mutable_spec()
                        ->mutable_affinity()
                        ->mutable_node_affinity()
                        ->mutable_required_during_scheduling_ignored_during_execution();
  required.clear_node_selector_terms();
  auto& field = *required.add_node_selector_terms()->add_match_fields();
  field.set_key(name_field);
  field.set_operator_("In");
  field.add_values(node);
}

const std::string& node_of(const Pod& pod) {
  static const std::string none;
  if (!pod.spec().node_name().empty()) return pod.spec().node_name();
  const auto& required =
      pod.spec().affinity().node_affinity().required_during_scheduling_ignored_during_execution();
  for (const auto& term : required.node_selector_terms())
    for (const auto& field : term.match_fields())
      if (field.key() == name_field && field.operator_() == "In" && field.values_size() == 1)
        return field.values(0);
  return none;
}

node_fit fit(const scheduler::pod_info& pod, const api::object& node) {
  const auto& name = node.meta().name();
  if (!pod.node().empty() && pod.node() != name) return {};
  if (!pod.selects(name, node.meta().labels())) return {};
  node_fit result{true, true};
  for (const auto& taint : node.as<Node>().spec().taints()) {
    if (taint.effect() == "PreferNoSchedule" || tolerates(pod.body().spec(), taint)) continue;
    result.runs = false;
    if (taint.effect() == "NoExecute") result.keeps = false;
  }
  return result;
}

}  // namespace troupe::actors::daemon_sets
