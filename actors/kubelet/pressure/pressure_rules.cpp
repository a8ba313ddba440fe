#include "actors/kubelet/pressure/pressure_rules.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "actors/nodes/taints.hpp"
#include "api/values/quantity.hpp"

namespace troupe::actors {

namespace {

std::string amount(std::int64_t bytes) {
  return api::quantity::of(bytes, api::quantity::notation::binary).str();
}

bool below(const supply& of, std::int64_t percent) {
  // Divide first, so that nothing overflows.
  return of.all > 0 && percent > 0 && of.left < of.all / 100 * percent;
}

std::optional<passed_threshold> passed_of_disks(const node_supplies& supplies,
                                                const eviction_thresholds& thresholds) {
  const auto& [memory, disk, inodes, pids, images, image_inodes] = supplies;
  struct threshold {
    node_disk of;
    const supply& left;
    std::int64_t percent;
    bool inodes, soft;
  };
  for (const auto& each :
       {threshold{node_disk::pods, disk, thresholds.disk_percent, false, false},
        threshold{node_disk::pods, inodes, thresholds.inodes_percent, true, false},
        threshold{node_disk::images, images, thresholds.image_disk_percent, false, false},
        threshold{node_disk::images, image_inodes, thresholds.inodes_percent, true, false},
        threshold{node_disk::pods, disk, thresholds.soft_disk_percent, false, true}}) {
    if (!below(each.left, each.percent)) continue;
    const auto text = each.inodes ? [](std::int64_t n) { return std::to_string(n); } : amount;
    return passed_threshold{shortage::disk,
                            each.inodes ? inodes_resource : "ephemeral-storage",
                            text(each.left.all / 100 * each.percent),
                            text(each.left.left),
                            each.soft,
                            each.of};
  }
  return std::nullopt;
}

}  // namespace

const char* condition_of(shortage of) noexcept {
  static constexpr const char* names[] = {"MemoryPressure", "DiskPressure", "PIDPressure"};
  return names[static_cast<int>(of)];
}

std::vector<passed_threshold> passed_thresholds(const node_supplies& supplies,
                                                const eviction_thresholds& thresholds) {
  std::vector<passed_threshold> passed;
  const auto& memory = supplies.memory;
  for (const auto& [bytes, soft] :
       {std::pair{thresholds.memory_bytes, false}, std::pair{thresholds.soft_memory_bytes, true}})
    if (memory.all > 0 && memory.left < bytes) {
      passed.push_back({shortage::memory, "memory", amount(bytes), amount(memory.left), soft});
      break;
    }
  if (auto disk = passed_of_disks(supplies, thresholds)) passed.push_back(std::move(*disk));
  if (below(supplies.pids, thresholds.pids_percent))
    passed.push_back({shortage::pids, "pids",
                      std::to_string(supplies.pids.all / 100 * thresholds.pids_percent),
                      std::to_string(supplies.pids.left)});
  return passed;
}

void pressure_memory::observe(const std::vector<passed_threshold>& passed,
                              runtime::time_point now) {
  std::map<shortage, runtime::time_point> since;
  for (const auto& each : passed) {
    last_[each.of] = now;
    const auto known = since_.find(each.of);
    since[each.of] = known == since_.end() ? now : known->second;
  }
  since_ = std::move(since);
}

bool pressure_memory::demands_eviction(const passed_threshold& passed, runtime::duration soft_grace,
                                       runtime::time_point now) const {
  if (!passed.soft) return true;
  const auto found = since_.find(passed.of);
  return found != since_.end() && now - found->second >= soft_grace;
}

std::set<shortage> pressure_memory::holding(runtime::time_point now) const {
  std::set<shortage> all;
  for (const auto& [of, at] : last_)
    if (now - at < kubelet_defaults::pressure_transition) all.insert(of);
  return all;
}

void rank_for_eviction(std::vector<pod_consumption>& pods, shortage of) {
  const auto order = [of](const pod_consumption& pod) {
    const auto excess = pod.used - pod.requested;
    return std::tuple{of != shortage::pids && excess <= 0, pod.priority, -excess,
                      std::string_view{pod.uid}};
  };
  std::sort(pods.begin(), pods.end(),
            [&](const auto& a, const auto& b) { return order(a) < order(b); });
}

bool is_critical(const api::core::v1::Pod& pod) {
  return pod.spec().priority() >= kubelet_defaults::system_critical_priority;
}

const char* signal_of(const passed_threshold& passed) noexcept {
  switch (passed.of) {
    case shortage::memory:
      return "memory.available";
    case shortage::disk:
      if (passed.disk == node_disk::images)
        return passed.resource == inodes_resource ? "imagefs.inodesFree" : "imagefs.available";
      return passed.resource == inodes_resource ? "nodefs.inodesFree" : "nodefs.available";
    case shortage::pids:
      break;
  }
  return "pid.available";
}

pod_failure eviction_failure(const passed_threshold& of, runtime::duration grace) {
  return {.reason = "Evicted",
          .message = fmt::format("The node was low on resource: {}. Threshold quantity: {}, "
                                 "available: {}. ",
                                 of.resource, of.quantity, of.available),
          .grace = of.soft ? grace : kubelet_defaults::eviction_grace,
          .disruption = true};
}

std::optional<pod_failure> pressure_rejection(const api::core::v1::Pod& pod,
                                              const std::set<shortage>& holding) {
  if (holding.empty() || is_critical(pod)) return std::nullopt;
  if (holding == std::set{shortage::memory}) {
    api::core::v1::Taint taint;
    taint.set_key("node.kubernetes.io/memory-pressure");
    taint.set_effect("NoSchedule");
    if (pod.status().qos_class() != "BestEffort" || tolerates(pod.spec(), taint))
      return std::nullopt;
  }
  std::vector<std::string> names;
  for (const auto of : holding)
    names.emplace_back(condition_of(of));
  return pod_failure{
      .reason = "Evicted",
      .message = fmt::format("The node had condition: [{}]. ", fmt::join(names, " "))};
}

}  // namespace troupe::actors
