#include "actors/pods/pod_rules.hpp"

#include <algorithm>
#include <string_view>
#include <tuple>

#include "actors/core/condition.hpp"
#include "actors/core/pod_health.hpp"
#include "actors/defaults.hpp"
#include "actors/nodes/node_rules.hpp"
#include "actors/nodes/taints.hpp"

namespace troupe::actors {

using api::core::v1::Node;
using api::core::v1::Pod;

namespace {

auto removal_order(const api::object& pod) {
  const auto& meta = pod.meta();
  const bool evicted = pod.as<Pod>().status().reason() == "Evicted";
  return std::tuple{!evicted, meta.creation_timestamp().seconds(),
                    std::string_view{meta.namespace_()}, std::string_view{meta.name()}};
}

bool waits_for_finalizer(const api::object& pod) {
  const auto& meta = pod.meta();
  return meta.has_deletion_timestamp() && meta.deletion_grace_period_seconds() == 0;
}

}  // namespace

std::vector<api::object_ptr> terminated_to_remove(std::vector<api::object_ptr> all,
                                                  std::size_t kept, std::size_t limit) {
  if (all.size() <= kept) return {};
  std::sort(all.begin(), all.end(),
            [](const auto& a, const auto& b) { return removal_order(*a) < removal_order(*b); });
  all.resize(all.size() - kept);
  std::erase_if(all, [](const auto& each) { return waits_for_finalizer(*each); });
  if (all.size() > limit) all.resize(limit);
  return all;
}

std::unique_ptr<Pod> marked_not_ready(const Pod& pod, const Node& node, runtime::wall_time now) {
  const auto* condition = find_condition(pod.status().conditions(), "Ready");
  if (condition == nullptr || condition->status() != "True") return nullptr;
  const auto ready = readiness_of(node);
  if (ready != readiness::not_ready && ready != readiness::unknown) return nullptr;
  auto marked = std::make_unique<Pod>(pod);
  set_condition(*marked->mutable_status()->mutable_conditions(), {"Ready", "False"}, now);
  return marked;
}

std::unique_ptr<Pod> marked_failed(const Pod& pod, bool node_vanished, runtime::wall_time now) {
  if (is_terminated(pod)) return nullptr;
  auto marked = std::make_unique<Pod>(pod);
  auto& status = *marked->mutable_status();
  status.set_phase("Failed");
  if (node_vanished)
    set_condition(*status.mutable_conditions(),
                  {"DisruptionTarget", "True", "DeletionByPodGC", "PodGC: node no longer exists"},
                  now);
  return marked;
}

pod_decision decide(const Pod& pod, const Node* node) {
  const bool bound = !pod.spec().node_name().empty();
  if (pod.metadata().has_deletion_timestamp()) {
    // A kubelet terminates and then removes its pods; here there is none that could.
    const bool kubelet = bound && node != nullptr && !is_out_of_service(*node);
    return {kubelet ? pod_need::nothing : pod_need::removal};
  }
  if (!bound) {
    const auto& scheduler = pod.spec().scheduler_name();
    const bool ours = scheduler.empty() || scheduler == defaults::scheduler_name;
    return {ours && !is_terminated(pod) ? pod_need::node : pod_need::nothing};
  }
  if (node == nullptr) return {pod_need::removal, defaults::vanished_node_quarantine};
  if (!has_no_execute(*node)) return {};
  const auto tolerated = min_toleration_time(pod.spec(), *node);
  if (!tolerated) return {};
  return {pod_need::eviction, *tolerated};
}

}  // namespace troupe::actors
