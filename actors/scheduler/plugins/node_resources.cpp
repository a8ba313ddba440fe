// Room on the node: what the pod asks for must be free; nodes with more left, and with cpu and
// memory used alike, are better (kubernetes: noderesources/fit.go, least_allocated.go,
// balanced_allocation.go).
#include <cmath>
#include <cstdlib>

#include "actors/scheduler/plugins/plugins.hpp"

namespace troupe::actors::scheduler {

namespace {

class node_resources_fit : public plugin, public filter_plugin, public score_plugin {
 public:
  std::string_view name() const noexcept override { return "NodeResourcesFit"; }
  std::uint32_t helped_by() const noexcept override {
    return node_added | node_resources_changed | pod_deleted | pod_updated;
  }

  status filter(const cycle&, const pod_info& pod, const node_info& node) const override {
    status result;
    bool never = false;
    const auto& has = node.allocatable();
    const auto& used = node.requested();
    const auto check = [&](std::int64_t requested, std::int64_t total, std::int64_t taken,
                           std::string_view reason, std::string_view name) {
      if (requested == 0 || requested <= total - taken) return;
      result.code = status_code::unschedulable;
      if (!result.reason.empty()) result.reason += '\n';
      result.reason.append(reason).append(name);
      never |= requested > total;
    };
    check(1, has.pods, used.pods, "Too many pods", {});
    check(pod.requests.milli_cpu, has.milli_cpu, used.milli_cpu, "Insufficient cpu", {});
    check(pod.requests.memory, has.memory, used.memory, "Insufficient memory", {});
    check(pod.requests.ephemeral, has.ephemeral, used.ephemeral, "Insufficient ephemeral-storage",
          {});
    for (const auto& [name, amount] : pod.requests.extended)
      check(amount, has.extended_amount(name), used.extended_amount(name), "Insufficient ", name);
    if (never) result.code = status_code::unresolvable;
    return result;
  }

  std::int64_t score(const cycle&, const pod_info& pod, const node_info& node) const override {
    const auto left = [](std::int64_t total, std::int64_t taken) -> std::int64_t {
      return total <= 0 || taken > total ? 0 : (total - taken) * max_score / total;
    };
    return (left(node.allocatable().milli_cpu,
                 node.scored().milli_cpu + pod.scoring_requests.milli_cpu) +
            left(node.allocatable().memory, node.scored().memory + pod.scoring_requests.memory)) /
           2;
  }
};

class balanced_allocation : public plugin, public score_plugin {
 public:
  std::string_view name() const noexcept override { return "NodeResourcesBalancedAllocation"; }

  std::int64_t score(const cycle&, const pod_info& pod, const node_info& node) const override {
    const auto share = [](std::int64_t taken, std::int64_t total) {
      return total <= 0 ? 1.0 : std::min(1.0, static_cast<double>(taken) / total);
    };
    const auto cpu =
        share(node.requested().milli_cpu + pod.requests.milli_cpu, node.allocatable().milli_cpu);
    const auto memory =
        share(node.requested().memory + pod.requests.memory, node.allocatable().memory);
    // The standard deviation of two values is half their distance.
    return static_cast<std::int64_t>((1.0 - std::abs(cpu - memory) / 2) * max_score);
  }
};

}  // namespace

std::unique_ptr<plugin> make_node_resources_fit() {
  return std::make_unique<node_resources_fit>();
}
std::unique_ptr<plugin> make_balanced_allocation() {
  return std::make_unique<balanced_allocation>();
}

}  // namespace troupe::actors::scheduler
