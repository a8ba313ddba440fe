#include "actors/controllers/disruption/disruption.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "actors/controllers/disruption/budget_rules.hpp"
#include "actors/controllers/kit/claims.hpp"
#include "actors/controllers/kit/reconciler.hpp"
#include "api/equality.hpp"
#include "api/schema/apps_v1.pb.h"
#include "api/schema/core_pod.pb.h"
#include "api/scheme.hpp"
#include "api/strategy/scale.hpp"

namespace troupe::actors::disruption {
namespace {

using api::core::v1::Pod;
using api::policy::v1::PodDisruptionBudget;
using api::policy::v1::PodDisruptionBudgetStatus;

// A missing selector matches nothing, an empty one all pods of the namespace.
api::label_selector pods_of(const api::object& owner) {
  const auto& spec = owner.as<PodDisruptionBudget>().spec();
  return spec.has_selector() ? compile(spec.selector()) : api::label_selector::nothing();
}

// Uses the scale of the Deployment for pods of its ReplicaSets.
std::optional<controller_scale> scale_of_pod(const persistence::snapshot& state,
                                             const api::object& pod) {
  auto controller = stored_controller(state, pod);
  if (!controller) return std::nullopt;
  if (const auto above = stored_controller(state, *controller);
      above && &above->kind() == &api::kind_of<api::apps::v1::Deployment>())
    controller = above;
  if (!controller->kind().options().has_scale()) return std::nullopt;
  const auto scale = api::scale_of(controller->kind(), controller->content());
  if (!scale) return std::nullopt;
  return controller_scale{controller->meta().uid(), scale->spec().replicas()};
}

class budget_controller final : public reconciler {
 public:
  using reconciler::reconciler;

 private:
  void sync() override {
    const auto& budget = owner()->as<PodDisruptionBudget>();
    const auto pods = observed_in_store();  // failed pods are not healthy
    const auto state = read_store();
    auto plan = plan_budget(
        budget, pods, [&](const api::object& pod) { return scale_of_pod(state, pod); },
        wall_seconds());
    if (pods.empty()) record(false, "NoPods", "No matching pods found");
    log_changes(budget.status(), plan);
    if (plan.unmanaged > 0)
      record(true, "UnmanagedPods",
             "Pods selected by this PodDisruptionBudget were found to be unmanaged. As a result, "
             "the status of the PDB cannot be calculated correctly, which may result in undefined "
             "behavior. To account for these pods please set \".spec.minAvailable\" field of the "
             "PDB to an integer value.");
    for (const auto& pod : plan.overdue) {
      log_decision(fmt::format("counts pod {} again: it was evicted, but not deleted", pod));
      record(true, "NotDeleted",
             "Pod was expected by PDB " + owner()->meta().namespace_() + "/" +
                 owner()->meta().name() + " to be deleted but it wasn't: " + pod);
    }
    recheck_at_ = plan.recheck_at;
    auto changed = owner()->copy_as<PodDisruptionBudget>();
    *changed->mutable_status() = std::move(plan.status);
    if (!api::same_meaning(*changed, owner()->content())) replace(owner(), std::move(changed));
  }

  // Compares with the last sync: an eviction may have changed `before` since.
  void log_changes(const PodDisruptionBudgetStatus& before, const budget_plan& plan) {
    const auto& now = plan.status;
    const bool allows = now.disruptions_allowed() > 0;
    if (std::exchange(allowed_, allows).value_or(before.disruptions_allowed() > 0) != allows)
      log_decision(fmt::format("allows {} evictions: {} of {} pods are healthy, {} are required",
                               now.disruptions_allowed(), now.current_healthy(),
                               now.expected_pods(), now.desired_healthy()));
    if (std::exchange(unmanaged_, plan.unmanaged) == 0 && plan.unmanaged > 0)
      log_decision(fmt::format("does not count {} pods without a controller", plan.unmanaged));
  }

  void after_sync() override {
    if (recheck_at_ > 0)
      enqueue_in_seconds(std::max<std::int64_t>(recheck_at_ - wall_seconds(), 1));
  }

  std::int64_t recheck_at_ = 0;  // seconds since the epoch
  // Of the last sync.
  std::optional<bool> allowed_;  // whether the budget allowed an eviction
  std::size_t unmanaged_ = 0;
};

}  // namespace

controller_type controller() {
  return {.name = "disruption",
          .purpose = "the number of allowed evictions of each budget",
          .owners = {{.kind = &api::kind_of<PodDisruptionBudget>(),
                      .actor_kind = "poddisruptionbudget",
                      .component = "controllermanager",
                      .observes = &pods_of}},
          .dependents = {},
          .make = make_controller<budget_controller>,
          .observed = {&api::kind_of<Pod>()}};
}

}  // namespace troupe::actors::disruption
