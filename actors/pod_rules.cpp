#include "actors/pod_rules.hpp"

#include "actors/condition.hpp"
#include "actors/defaults.hpp"
#include "actors/node_rules.hpp"
#include "actors/taints.hpp"

namespace troupe::actors {

using api::core::v1::Node;
using api::core::v1::Pod;

bool terminated(const Pod& pod) {
  const auto& phase = pod.status().phase();
  return phase == "Succeeded" || phase == "Failed";
}

std::unique_ptr<Pod> marked_not_ready(const Pod& pod, const Node& node, runtime::wall_time now) {
  const auto ready = readiness_of(node);
  if (ready != readiness::not_ready && ready != readiness::unknown) return nullptr;
  const auto* said = find_condition(pod.status().conditions(), "Ready");
  if (said == nullptr || said->status() != "True") return nullptr;
  auto marked = std::make_unique<Pod>(pod);
  set_condition(*marked->mutable_status()->mutable_conditions(), {"Ready", "False"}, now);
  return marked;
}

pod_outlook outlook(const Pod& pod, const Node* node) {
  const bool bound = !pod.spec().node_name().empty();
  if (pod.metadata().has_deletion_timestamp()) {
    // A kubelet ends and then removes its pods; here there is none that could.
    return {bound && node != nullptr ? pod_need::nothing : pod_need::removal};
  }
  if (!bound) {
    const auto& scheduler = pod.spec().scheduler_name();
    const bool ours = scheduler.empty() || scheduler == defaults::scheduler_name;
    return {ours && !terminated(pod) ? pod_need::node : pod_need::nothing};
  }
  if (node == nullptr) return {pod_need::removal, defaults::vanished_node_quarantine};
  if (!has_no_execute(*node)) return {};
  const auto borne = time_to_leave(pod.spec(), *node);
  if (!borne) return {};
  return {pod_need::eviction, *borne};
}

}  // namespace troupe::actors
