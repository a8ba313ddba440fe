#include "actors/controllers/disruption/budget_rules.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "actors/controllers/disruption/defaults.hpp"
#include "actors/controllers/kit/share.hpp"
#include "actors/core/condition.hpp"
#include "actors/core/pod_health.hpp"
#include "actors/write/eviction.hpp"
#include "api/schema/core_pod.pb.h"

namespace troupe::actors::disruption {
namespace {

using api::core::v1::Pod;
using api::policy::v1::PodDisruptionBudget;
using api::policy::v1::PodDisruptionBudgetStatus;

struct wanted_pods {
  std::int32_t expected = 0, healthy = 0;
  std::size_t unmanaged = 0;
};

// The sum of the desired replicas of the pods' controllers.
wanted_pods scales_of(const std::vector<api::object_ptr>& pods, const scale_lookup& scale_of) {
  std::map<std::string, std::int32_t> replicas;  // by controller
  wanted_pods result;
  for (const auto& pod : pods) {
    if (const auto scale = scale_of(*pod))
      replicas[scale->uid] = scale->replicas;
    else
      ++result.unmanaged;
  }
  std::int64_t sum = 0;
  for (const auto& [uid, count] : replicas)
    sum += count;
  result.expected = static_cast<std::int32_t>(
      std::min<std::int64_t>(sum, std::numeric_limits<std::int32_t>::max()));
  return result;
}

wanted_pods wanted_of(const PodDisruptionBudget& budget, const std::vector<api::object_ptr>& pods,
                      const scale_lookup& scale_of) {
  const auto& spec = budget.spec();
  if (spec.has_max_unavailable()) {
    auto wanted = scales_of(pods, scale_of);
    wanted.healthy = std::max(
        wanted.expected - share_of(spec.max_unavailable(), wanted.expected, rounding::up), 0);
    return wanted;
  }
  if (!spec.has_min_available()) return {};
  if (spec.min_available().type() == 0)
    return {static_cast<std::int32_t>(pods.size()), spec.min_available().int_val(), 0};
  auto wanted = scales_of(pods, scale_of);
  wanted.healthy = share_of(spec.min_available(), wanted.expected, rounding::up);
  return wanted;
}

// Keeps the pending allowed evictions: pods that exist and are not being deleted yet.
void keep_evictions(const PodDisruptionBudget& budget, const std::vector<api::object_ptr>& pods,
                    std::int64_t now, budget_plan& plan) {
  const auto& allowed = budget.status().disrupted_pods();
  for (const auto& pod : pods) {
    const auto found = allowed.find(pod->meta().name());
    if (found == allowed.end() || pod->meta().has_deletion_timestamp()) continue;
    const auto until = found->second.seconds() + defaults::eviction_seconds;
    if (until <= now) {
      plan.overdue.push_back(pod->meta().name());
      continue;
    }
    (*plan.status.mutable_disrupted_pods())[pod->meta().name()] = found->second;
    // A time in the future comes from another clock.
    const auto next = std::min(until, now + defaults::eviction_seconds);
    plan.recheck_at = plan.recheck_at == 0 ? next : std::min(plan.recheck_at, next);
  }
}

}  // namespace

budget_plan plan_budget(const PodDisruptionBudget& budget,
                        const std::vector<api::object_ptr>& all_pods, const scale_lookup& scale_of,
                        std::int64_t now_seconds) {
  std::vector<api::object_ptr> pods;
  for (const auto& pod : all_pods)
    if (!is_terminated(pod->as<Pod>())) pods.push_back(pod);
  budget_plan plan;
  keep_evictions(budget, pods, now_seconds, plan);
  const auto wanted = wanted_of(budget, pods, scale_of);
  plan.unmanaged = wanted.unmanaged;
  const auto healthy = std::count_if(pods.begin(), pods.end(), [&](const auto& pod) {
    return !pod->meta().has_deletion_timestamp() &&
           !plan.status.disrupted_pods().contains(pod->meta().name()) &&
           is_ready(pod->template as<Pod>());
  });
  auto& status = plan.status;
  status.set_observed_generation(budget.metadata().generation());
  status.set_expected_pods(wanted.expected);
  status.set_desired_healthy(wanted.healthy);
  status.set_current_healthy(static_cast<std::int32_t>(healthy));
  status.set_disruptions_allowed(
      wanted.expected == 0 ? 0 : std::max(static_cast<std::int32_t>(healthy) - wanted.healthy, 0));
  *status.mutable_conditions() = budget.status().conditions();
  note_disruptions_allowed(status, now_seconds);
  return plan;
}

}  // namespace troupe::actors::disruption
