// If no node fits: chooses a node and the pods of lower priority to evict from it
// (kubernetes: defaultpreemption, preemption.go), as few and of as low priority as
// possible.
#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>

#include "actors/scheduler/plugins/plugins.hpp"
#include "api/schema/core_pod.pb.h"

namespace troupe::actors::scheduler {

namespace {

// A pod that has not started counts as the youngest (kubernetes: GetPodStartTime).
std::int64_t start_of(const pod_info& pod) {
  const auto& status = pod.body().status();
  return status.has_start_time() ? status.start_time().seconds()
                                 : std::numeric_limits<std::int64_t>::max();
}

// Orders by importance, descending: terminating pods are last; then by priority, then by running
// time.
bool more_important(const pod_info_ptr& a, const pod_info_ptr& b) {
  const bool leaves = a->pod->meta().has_deletion_timestamp();
  if (leaves != b->pod->meta().has_deletion_timestamp()) return !leaves;
  if (a->priority != b->priority) return a->priority > b->priority;
  return start_of(*a) < start_of(*b);
}

// The victims on one node: removes all pods of lower priority, then reprieves as many as still fit.
std::optional<std::vector<pod_info_ptr>> victims_on(const framework_handle& handle,
                                                    const cycle& notes, const pod_info& pod,
                                                    const cluster_view& view,
                                                    const node_info& node) {
  std::vector<pod_info_ptr> candidates;
  for (const auto& other : node.pods())
    // A pod that is only assumed here (a bind in flight, or a nomination) cannot be
    // evicted.
    if (other->priority < pod.priority && !other->node().empty()) candidates.push_back(other);
  if (candidates.empty()) return std::nullopt;
  auto trial = node;
  const auto remove = [&](const pod_info_ptr& other) {
    trial.remove(other->key);
    handle.adjust(notes, pod, view, *other, node, -1);
  };
  for (const auto& other : candidates)
    remove(other);
  const bool helps = handle.run_filters(notes, pod, trial).ok();
  std::sort(candidates.begin(), candidates.end(), more_important);
  std::vector<pod_info_ptr> victims;
  for (const auto& other : candidates) {
    trial.add(other);
    handle.adjust(notes, pod, view, *other, node, 1);
    if (!helps || handle.run_filters(notes, pod, trial).ok()) continue;
    remove(other);
    victims.push_back(other);
  }
  // The notes are for all nodes.
  for (const auto& other : victims)
    handle.adjust(notes, pod, view, *other, node, 1);
  return helps ? std::optional{std::move(victims)} : std::nullopt;
}

// Smaller is better: the lowest maximum priority of the victims, the lowest sum of priorities, the
// fewest victims, the latest start of the most important one.
auto cost(const preemption& of) {
  auto highest = std::numeric_limits<std::int64_t>::min();
  std::int64_t sum = 0, latest = 0;
  for (const auto& victim : of.victims) {
    highest = std::max<std::int64_t>(highest, victim->priority);
    sum += std::int64_t{victim->priority} + std::numeric_limits<std::int32_t>::max();
  }
  if (!of.victims.empty()) latest = start_of(*of.victims.front());
  return std::make_tuple(highest, sum, of.victims.size(), -latest);
}

class default_preemption : public plugin, public post_filter_plugin {
 public:
  std::string_view name() const noexcept override { return "DefaultPreemption"; }
  void configure(const plugin_arguments& arguments) override {
    min_candidates_ = arguments.min_candidates;
    min_candidates_percent_ = arguments.min_candidates_percent;
  }

  preemption post_filter(const framework_handle& handle, const pod_info_ptr& pod,
                         const cluster_view& view,
                         const std::vector<status>& failed) const override {
    if (pod->body().spec().preemption_policy() == "Never")
      return {.node = {}, .victims = {}, .message = "not eligible due to preemptionPolicy=Never."};
    cycle notes{handle.plugins()};
    if (!handle.run_pre_filters(notes, *pod, view).ok()) return {};
    const auto enough =
        std::max(min_candidates_, view.nodes().size() * min_candidates_percent_ / 100);
    std::optional<preemption> best;
    std::size_t found = 0;
    for (std::size_t i = 0; i < view.nodes().size() && found < enough; ++i) {
      if (failed[i].ok() || failed[i].code == status_code::unresolvable) continue;
      const auto& node = *view.nodes()[i];
      auto victims = victims_on(handle, notes, *pod, view, node);
      if (!victims) continue;
      ++found;
      preemption candidate{.node = node.name(), .victims = std::move(*victims)};
      if (!best || cost(candidate) < cost(*best)) best = std::move(candidate);
    }
    return best ? std::move(*best) : preemption{};
  }

 private:
  std::size_t min_candidates_ = defaults::min_candidates;
  std::size_t min_candidates_percent_ = defaults::min_candidates_percent;
};

}  // namespace

std::unique_ptr<plugin> make_default_preemption() {
  return std::make_unique<default_preemption>();
}

}  // namespace troupe::actors::scheduler
