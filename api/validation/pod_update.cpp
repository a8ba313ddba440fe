// The mutable fields of a pod: images, the deadline (only shortened), tolerations (only added), a
// negative grace period (to 1), scheduling gates (only removed); and while it has gates, its
// placement.
#include <algorithm>

#include "api/equality.hpp"
#include "api/validation/checks.hpp"

namespace troupe::api::validation {
namespace {

using namespace core::v1;

bool same_count(field_errors& out, const PodSpec& now, const PodSpec& was) {
  const auto fits = [&](std::string_view field, int a, int b) {
    if (a == b) return true;
    out.forbidden(field, "pod updates may not add or remove containers");
    return false;
  };
  const bool main = fits("containers", now.containers_size(), was.containers_size());
  return fits("initContainers", now.init_containers_size(), was.init_containers_size()) && main;
}

void check_deadline(field_errors& out, const PodSpec& now, const PodSpec& was) {
  if (!was.has_active_deadline_seconds()) return;
  if (!now.has_active_deadline_seconds())
    out.invalid("activeDeadlineSeconds", "",
                "must not update from a positive integer to nil value");
  else if (now.active_deadline_seconds() > was.active_deadline_seconds())
    out.invalid("activeDeadlineSeconds", now.active_deadline_seconds(),
                "must be less than or equal to previous value");
}

bool tolerates_the_same(const Toleration& a, const Toleration& b) {
  return a.key() == b.key() && a.operator_() == b.operator_() && a.value() == b.value() &&
         a.effect() == b.effect();
}

void check_tolerations(field_errors& out, const PodSpec& now, const PodSpec& was) {
  for (const auto& old : was.tolerations()) {
    const bool kept = std::any_of(now.tolerations().begin(), now.tolerations().end(),
                                  [&](const auto& one) { return tolerates_the_same(one, old); });
    if (kept) continue;
    out.forbidden("tolerations",
                  "existing toleration can not be modified except its tolerationSeconds");
    return;
  }
}

void check_gates(field_errors& out, const PodSpec& now, const PodSpec& was) {
  for (const auto& gate : now.scheduling_gates()) {
    const auto& before = was.scheduling_gates();
    const bool known = std::any_of(before.begin(), before.end(),
                                   [&](const auto& one) { return one.name() == gate.name(); });
    if (!known)
      out.forbidden("schedulingGates", "only deletion is allowed, but found new scheduling gate " +
                                           quoted(gate.name()));
  }
}

template <class Containers>
void take_images(Containers& into, const Containers& from) {
  for (int i = 0; i < into.size(); ++i)
    into[i].set_image(from[i].image());
}

// While a pod has scheduling gates, its node selector and affinity may be narrowed.
void take_placement(field_errors& out, PodSpec& into, const PodSpec& was) {
  for (const auto& [key, value] : was.node_selector()) {
    const auto found = into.node_selector().find(key);
    if (found == into.node_selector().end() || found->second != value)
      out.invalid("nodeSelector", key,
                  "only additions to spec.nodeSelector are allowed (no mutations or deletions)");
  }
  *into.mutable_node_selector() = was.node_selector();
  if (was.has_affinity())
    *into.mutable_affinity() = was.affinity();
  else
    into.clear_affinity();
}

// `now` with all mutable fields restored: any remaining difference is forbidden.
PodSpec without_allowed(field_errors& out, const PodSpec& now, const PodSpec& was) {
  PodSpec rest = now;
  take_images(*rest.mutable_containers(), was.containers());
  take_images(*rest.mutable_init_containers(), was.init_containers());
  if (was.has_active_deadline_seconds())
    rest.set_active_deadline_seconds(was.active_deadline_seconds());
  else
    rest.clear_active_deadline_seconds();
  *rest.mutable_tolerations() = was.tolerations();
  *rest.mutable_scheduling_gates() = was.scheduling_gates();
  if (was.termination_grace_period_seconds() < 0 && now.termination_grace_period_seconds() == 1)
    rest.set_termination_grace_period_seconds(was.termination_grace_period_seconds());
  if (!was.scheduling_gates().empty()) take_placement(out, rest, was);
  return rest;
}

}  // namespace

void check_pod_update(field_errors& out, const Pod& now, const Pod& was) {
  const auto step = out.at.field("spec");
  if (!same_count(out, now.spec(), was.spec())) return;
  check_deadline(out, now.spec(), was.spec());
  check_tolerations(out, now.spec(), was.spec());
  check_gates(out, now.spec(), was.spec());
  if (same_meaning(without_allowed(out, now.spec(), was.spec()), was.spec())) return;
  out.forbidden({},
                "pod updates may not change fields other than `spec.containers[*].image`, "
                "`spec.initContainers[*].image`, `spec.activeDeadlineSeconds`, `spec.tolerations` "
                "(only additions to existing tolerations), `spec.terminationGracePeriodSeconds` "
                "(allow it to be set to 1 if it was previously negative)");
}

}  // namespace troupe::api::validation
