// If no node fits: chooses a node and the pods of lower priority to evict from it
// (kubernetes: defaultpreemption, preemption.go), as few and of as low priority as
// possible. PodDisruptionBudgets are respected where there is a choice.
#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "actors/scheduler/plugins/plugins.hpp"
#include "api/schema/core_pod.pb.h"
#include "api/schema/policy_budget.pb.h"

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

// Moves the pods whose eviction would violate a budget to the front; the order is kept otherwise.
// Returns their number (kubernetes: filterPodsWithPDBViolation).
std::size_t move_violating_first(std::vector<pod_info_ptr>& pods, const cluster_view& view) {
  std::map<api::object_ptr, std::int64_t> allowed;  // by budget
  std::vector<pod_info_ptr> violating, others;
  for (auto& pod : pods) {
    bool violates = false;
    for (const auto& budget : view.budgets_of(*pod)) {
      const auto& status = budget->as<api::policy::v1::PodDisruptionBudget>().status();
      // Its eviction is subtracted from the budget already.
      if (status.disrupted_pods().contains(pod->pod->meta().name())) continue;
      auto& left = allowed.try_emplace(budget, status.disruptions_allowed()).first->second;
      violates |= --left < 0;
    }
    (violates ? violating : others).push_back(std::move(pod));
  }
  const auto count = violating.size();
  pods = std::move(violating);
  pods.insert(pods.end(), others.begin(), others.end());
  return count;
}

struct victims {
  std::vector<pod_info_ptr> pods;
  std::size_t violations = 0;  // of budgets
};

// The victims on one node: removes all pods of lower priority, then reprieves as many as still fit,
// those that a budget protects first.
std::optional<victims> victims_on(const framework_handle& handle, const cycle& notes,
                                  const pod_info& pod, const cluster_view& view,
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
  const auto violating = move_violating_first(candidates, view);
  victims result;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const auto& other = candidates[i];
    trial.add(other);
    handle.adjust(notes, pod, view, *other, node, 1);
    if (!helps || handle.run_filters(notes, pod, trial).ok()) continue;
    remove(other);
    result.pods.push_back(other);
    if (i < violating) ++result.violations;
  }
  // The notes are for all nodes.
  for (const auto& other : result.pods)
    handle.adjust(notes, pod, view, *other, node, 1);
  if (!helps) return std::nullopt;
  std::sort(result.pods.begin(), result.pods.end(), more_important);
  return result;
}

// Smaller is better: the fewest violations of budgets, the lowest maximum priority of the victims,
// the lowest sum of priorities, the fewest victims, the latest start of the most important one.
auto cost(const victims& of) {
  auto highest = std::numeric_limits<std::int64_t>::min();
  std::int64_t sum = 0, latest = 0;
  for (const auto& victim : of.pods) {
    highest = std::max<std::int64_t>(highest, victim->priority);
    sum += std::int64_t{victim->priority} + std::numeric_limits<std::int32_t>::max();
  }
  if (!of.pods.empty()) latest = start_of(*of.pods.front());
  return std::make_tuple(of.violations, highest, sum, of.pods.size(), -latest);
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
    std::optional<victims> best;
    std::string best_node;
    std::size_t found = 0;
    // Goes on while each candidate violates a budget.
    for (std::size_t i = 0;
         i < view.nodes().size() && (found < enough || (best && best->violations > 0)); ++i) {
      if (failed[i].ok() || failed[i].code == status_code::unresolvable) continue;
      const auto& node = *view.nodes()[i];
      auto candidate = victims_on(handle, notes, *pod, view, node);
      if (!candidate) continue;
      ++found;
      if (best && cost(*candidate) >= cost(*best)) continue;
      best = std::move(candidate);
      best_node = node.name();
    }
    if (!best) return {};
    return {.node = std::move(best_node), .victims = std::move(best->pods)};
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
