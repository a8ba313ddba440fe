#include "actors/nodes/node_rules.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "actors/core/condition.hpp"
#include "actors/core/labels.hpp"
#include "api/equality.hpp"

namespace troupe::actors {

using api::core::v1::Node;
using api::core::v1::Taint;

namespace {

// Conditions posted by a kubelet: all become Unknown for a silent node.

struct pressure {
  const char* condition;
  const char* taint;
};
constexpr std::array pressures{
    pressure{"MemoryPressure", "node.kubernetes.io/memory-pressure"},
    pressure{"DiskPressure", "node.kubernetes.io/disk-pressure"},
    pressure{"PIDPressure", "node.kubernetes.io/pid-pressure"},
    pressure{network_condition, "node.kubernetes.io/network-unavailable"},
};
constexpr const char* taint_unschedulable = "node.kubernetes.io/unschedulable";

struct wanted_taint {
  std::string_view key;
  std::string_view effect;
};

std::vector<wanted_taint> wanted_taints(const Node& node, bool may_evict) {
  std::vector<wanted_taint> wanted;
  const auto ready = readiness_of(node);
  if (ready == readiness::not_ready || ready == readiness::unknown) {
    const auto* key = ready == readiness::not_ready ? taint_not_ready : taint_unreachable;
    wanted.push_back({key, "NoSchedule"});
    if (may_evict) wanted.push_back({key, "NoExecute"});
  }
  for (const auto& each : pressures) {
    const auto* found = find_condition(node.status().conditions(), each.condition);
    // Of the problems that our kubelet finds some concern few packets, and pods that need none of
    // them run (docs/decisions/0057-pod-network-by-rtnetlink.md).
    if (found != nullptr && found->status() == "True" && found->reason() != network_has_problems)
      wanted.push_back({each.taint, "NoSchedule"});
  }
  if (node.spec().unschedulable()) wanted.push_back({taint_unschedulable, "NoSchedule"});
  return wanted;
}

bool is_ours(const Taint& taint) {
  if (taint.effect() != "NoSchedule" && taint.effect() != "NoExecute") return false;
  const auto& key = taint.key();
  if (key == taint_not_ready || key == taint_unreachable) return true;
  return taint.effect() == "NoSchedule" &&
         (key == taint_unschedulable ||
          std::any_of(pressures.begin(), pressures.end(),
                      [&](const pressure& each) { return key == each.taint; }));
}

void set_taints(Node& node, bool may_evict, runtime::wall_time now) {
  auto wanted = wanted_taints(node, may_evict);
  auto& taints = *node.mutable_spec()->mutable_taints();
  for (int i = taints.size() - 1; i >= 0; --i) {
    const auto found = std::find_if(wanted.begin(), wanted.end(), [&](const wanted_taint& each) {
      return taints[i].key() == each.key && taints[i].effect() == each.effect;
    });
    if (found != wanted.end()) {
      wanted.erase(found);
    } else if (is_ours(taints[i])) {
      taints.erase(taints.begin() + i);
    }
  }
  for (const auto& each : wanted) {
    auto& taint = *taints.Add();
    taint.set_key(std::string{each.key});
    taint.set_effect(std::string{each.effect});
    taint.mutable_time_added()->set_seconds(seconds_of(now));
  }
}

void set_unknown(Node& node, runtime::wall_time now) {
  auto& conditions = *node.mutable_status()->mutable_conditions();
  for (const auto* type : posted_conditions) {
    const auto* known = find_condition(conditions, type);
    if (known == nullptr) {
      set_condition(
          conditions,
          {type, "Unknown", "NodeStatusNeverUpdated", "Kubelet never posted node status."}, now);
      *find_condition(conditions, type)->mutable_last_heartbeat_time() =
          node.metadata().creation_timestamp();
    } else if (known->status() != "Unknown") {
      set_condition(conditions,
                    {type, "Unknown", "NodeStatusUnknown", "Kubelet stopped posting node status."},
                    now);
    }
  }
}

}  // namespace

std::unique_ptr<Node> corrected(const Node& node, const node_evaluation& evaluated,
                                runtime::wall_time now) {
  auto better = std::make_unique<Node>(node);
  if (evaluated.silent) set_unknown(*better, now);
  // Evicted pods do not come back while the reason lasts, whichever of the two taints it
  // is.
  set_taints(*better, evaluated.may_evict, now);
  return api::same_meaning(*better, node) ? nullptr : std::move(better);
}

readiness readiness_of(const Node& node) {
  const auto* ready = find_condition(node.status().conditions(), "Ready");
  if (ready == nullptr) return readiness::missing;
  if (ready->status() == "True") return readiness::ready;
  return ready->status() == "False" ? readiness::not_ready : readiness::unknown;
}

bool has_eviction_taint(const Node& node) {
  const auto& taints = node.spec().taints();
  return std::any_of(taints.begin(), taints.end(), [](const Taint& taint) {
    return taint.effect() == "NoExecute" &&
           (taint.key() == taint_not_ready || taint.key() == taint_unreachable);
  });
}

bool is_out_of_service(const Node& node) {
  const auto& taints = node.spec().taints();
  return readiness_of(node) != readiness::ready &&
         std::any_of(taints.begin(), taints.end(),
                     [](const Taint& taint) { return taint.key() == taint_out_of_service; });
}

std::string zone_of(const Node& node) {
  const auto& labels = node.metadata().labels();
  const auto& region = find_or_empty(labels, "topology.kubernetes.io/region");
  const auto& zone = find_or_empty(labels, "topology.kubernetes.io/zone");
  return region.empty() && zone.empty() ? std::string{} : region + "/" + zone;
}

}  // namespace troupe::actors
