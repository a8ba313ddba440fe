#include "actors/write/eviction.hpp"

#include <spdlog/fmt/fmt.h>

#include <utility>
#include <vector>

#include "actors/core/condition.hpp"
#include "actors/core/pod_health.hpp"
#include "actors/defaults.hpp"
#include "api/object/object_key.hpp"
#include "api/scheme.hpp"
#include "api/selectors/selector.hpp"

namespace troupe::actors {
namespace {

using api::core::v1::Pod;
using api::policy::v1::PodDisruptionBudget;

std::vector<api::object_ptr> budgets_of(const persistence::snapshot& state,
                                        const api::object& pod) {
  std::vector<api::object_ptr> found;
  state.scan(api::kind_of<PodDisruptionBudget>().prefix(pod.meta().namespace_()), {},
             [&](std::string_view, const api::object_ptr& budget) {
               const auto& spec = budget->as<PodDisruptionBudget>().spec();
               if (!spec.has_selector()) return true;
               const auto selector = api::label_selector::from(spec.selector());
               if (selector && selector->matches(pod.meta().labels())) found.push_back(budget);
               return true;
             });
  return found;
}

api::error refusal(std::string message, int retry_after_seconds) {
  auto refused = api::too_many_requests(
      "Cannot evict pod as it would violate the pod's disruption budget.", retry_after_seconds);
  refused.causes.push_back({"DisruptionBudget", std::move(message), {}});
  return refused;
}

// True if the pod serves nobody: it has finished, is terminating or has not started.
bool needs_no_budget(const Pod& pod) {
  return is_terminated(pod) || pod.status().phase() == "Pending" ||
         pod.metadata().has_deletion_timestamp();
}

// An unhealthy pod may be evicted if the budget is met without it.
bool may_go_unhealthy(const PodDisruptionBudget& budget, const Pod& pod) {
  if (is_ready(pod)) return false;
  if (budget.spec().unhealthy_pod_eviction_policy() == "AlwaysAllow") return true;
  const auto& status = budget.status();
  return status.desired_healthy() > 0 && status.current_healthy() >= status.desired_healthy();
}

// The budget's status after one more eviction.
api::expected<std::unique_ptr<PodDisruptionBudget>> take_one(const api::object& budget,
                                                             const Pod& pod,
                                                             runtime::wall_time now) {
  const auto& name = budget.meta().name();
  const auto& was = budget.as<PodDisruptionBudget>().status();
  if (was.observed_generation() < budget.meta().generation())
    return api::fail(refusal(
        fmt::format("The disruption budget {} is still being processed by the server.", name),
        defaults::budget_retry_seconds));
  if (was.disrupted_pods_size() > defaults::most_disrupted_pods)
    return api::fail(api::forbidden(
        budget.kind(), name,
        "DisruptedPods map too big - too many evictions not confirmed by PDB controller"));
  if (was.disruptions_allowed() <= 0)
    return api::fail(
        refusal(fmt::format("The disruption budget {} needs {} healthy pods and has {} currently",
                            name, was.desired_healthy(), was.current_healthy()),
                0));
  auto changed = budget.copy_as<PodDisruptionBudget>();
  auto& status = *changed->mutable_status();
  status.set_disruptions_allowed(was.disruptions_allowed() - 1);
  (*status.mutable_disrupted_pods())[pod.metadata().name()].set_seconds(seconds_of(now));
  note_disruptions_allowed(status, seconds_of(now));
  return changed;
}

}  // namespace

api::expected<proposal> propose_eviction(const persistence::snapshot& state, const evict& command,
                                         runtime::wall_time now) {
  auto made = propose(plan_evict(state, command, now), "eviction");
  if (!made || made->settled) return made;
  const auto& pod = made->before->as<Pod>();
  if (needs_no_budget(pod)) return made;
  const auto budgets = budgets_of(state, *made->before);
  if (budgets.empty()) return made;
  if (budgets.size() > 1)
    return api::fail(
        api::internal("This pod has more than one PodDisruptionBudget, which the eviction "
                      "subresource does not support."));
  const auto& budget = *budgets.front();
  auto key = api::key_of(budget);
  made->also.preconditions.push_back({key, budget.revision()});
  if (may_go_unhealthy(budget.as<PodDisruptionBudget>(), pod)) return made;
  auto changed = take_one(budget, pod, now);
  if (!changed) return api::fail(std::move(changed.error()));
  made->also.mutations.push_back({std::move(key), &budget.kind(), std::move(*changed)});
  return made;
}

void note_disruptions_allowed(api::policy::v1::PodDisruptionBudgetStatus& status,
                              std::int64_t now_seconds) {
  const bool allowed = status.disruptions_allowed() > 0;
  set_condition(*status.mutable_conditions(),
                {.type = "DisruptionAllowed",
                 .status = allowed ? "True" : "False",
                 .reason = allowed ? "SufficientPods" : "InsufficientPods"},
                runtime::wall_time{std::chrono::seconds{now_seconds}});
  find_condition(*status.mutable_conditions(), "DisruptionAllowed")
      ->set_observed_generation(status.observed_generation());
}

}  // namespace troupe::actors
