// Daemon sets, stateful sets and their revisions (kubernetes: pkg/apis/apps/validation).
#include <algorithm>
#include <array>

#include "api/equality.hpp"
#include "api/validation/more_workloads.hpp"
#include "api/validation/workload_parts.hpp"

namespace troupe::api::validation {
namespace {

using apps::v1::ControllerRevision;
using apps::v1::DaemonSet;
using apps::v1::StatefulSet;

void check_rolling_update(field_errors& out, const apps::v1::RollingUpdateDaemonSet& rolling) {
  const auto step = out.at.field("rollingUpdate");
  const auto missing = read_share(out, "maxUnavailable", rolling.max_unavailable());
  const auto surplus = read_share(out, "maxSurge", rolling.max_surge());
  check_at_most_all(out, "maxUnavailable", missing, rolling.max_unavailable());
  check_at_most_all(out, "maxSurge", surplus, rolling.max_surge());
  if (!missing.valid || !surplus.valid) return;
  if (missing.amount != 0 && surplus.amount != 0)
    out.invalid_json("maxSurge", share_as_json(rolling.max_surge()),
                     "may not be set when maxUnavailable is non-zero");
  if (missing.amount == 0 && surplus.amount == 0)
    out.required("maxUnavailable", "cannot be 0 when maxSurge is 0");
}

// Mounts may name claims of the set, so the pods are checked as a whole when they are created.
void check_template_of_set(field_errors& out, const core::v1::PodTemplateSpec& made_from,
                           const label_selector& selector) {
  const auto step = out.at.field("template");
  check_selected(out, made_from, selector);
  {
    const auto inner = out.at.field("metadata");
    check_labels(out, "labels", made_from.metadata().labels());
    check_annotations(out, made_from.metadata().annotations());
  }
  const auto inner = out.at.field("spec");
  const auto& policy = made_from.spec().restart_policy();
  if (!policy.empty() && policy != "Always")
    out.unsupported("restartPolicy", policy, std::initializer_list<std::string_view>{"Always"});
  if (made_from.spec().has_active_deadline_seconds())
    out.forbidden("activeDeadlineSeconds", "activeDeadlineSeconds in StatefulSet is not Supported");
}

void check_strategy(field_errors& out, const apps::v1::StatefulSetUpdateStrategy& strategy) {
  if (!strategy.has_rolling_update()) return;
  const auto step = out.at.field("updateStrategy");
  if (strategy.type() == "OnDelete") {
    out.invalid_json("rollingUpdate", "{}", "only allowed for updateStrategy 'RollingUpdate'");
    return;
  }
  if (!strategy.rolling_update().has_max_unavailable()) return;
  const auto inner = out.at.field("rollingUpdate");
  const auto& value = strategy.rolling_update().max_unavailable();
  const auto missing = read_share(out, "maxUnavailable", value);
  if (missing.valid && missing.amount == 0)
    out.invalid_json("maxUnavailable", share_as_json(value), "cannot be 0");
  check_at_most_all(out, "maxUnavailable", missing, value);
}

}  // namespace

void check(field_errors& out, const DaemonSet& object) {
  const auto step = out.at.field("spec");
  const auto& spec = object.spec();
  check_apps(out, spec, "DaemonSet", "daemonset");
  const auto inner = out.at.field("updateStrategy");
  const auto& strategy = spec.update_strategy();
  if (strategy.type() == "RollingUpdate" && strategy.has_rolling_update())
    check_rolling_update(out, strategy.rolling_update());
}

void check(field_errors& out, const StatefulSet& object) {
  const auto step = out.at.field("spec");
  const auto& spec = object.spec();
  check_strategy(out, spec.update_strategy());
  if (!spec.has_selector()) return;
  {
    const auto inner = out.at.field("selector");
    check_label_selector(out, spec.selector());
  }
  const auto selector = label_selector::from(spec.selector());
  if (!selector) return;
  if (selector->everything())
    out.invalid_json("selector", "{}", "empty selector is invalid for statefulset");
  check_template_of_set(out, spec.template_(), *selector);
}

void check_update(field_errors& out, const StatefulSet& now, const StatefulSet& was) {
  using apps::v1::StatefulSetSpec;
  constexpr std::array may_change = {
      StatefulSetSpec::kReplicasFieldNumber,
      StatefulSetSpec::kTemplateFieldNumber,
      StatefulSetSpec::kUpdateStrategyFieldNumber,
      StatefulSetSpec::kRevisionHistoryLimitFieldNumber,
      StatefulSetSpec::kMinReadySecondsFieldNumber,
      StatefulSetSpec::kPersistentVolumeClaimRetentionPolicyFieldNumber,
      StatefulSetSpec::kOrdinalsFieldNumber,
  };
  const auto& type = *StatefulSetSpec::descriptor();
  for (int i = 0; i < type.field_count(); ++i) {
    const auto& field = *type.field(i);
    if (std::find(may_change.begin(), may_change.end(), field.number()) != may_change.end())
      continue;
    if (same_field(now.spec(), was.spec(), field)) continue;
    return out.forbidden("spec",
                         "updates to statefulset spec for fields other than 'replicas', "
                         "'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', "
                         "'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are "
                         "forbidden");
  }
}

void check(field_errors& out, const ControllerRevision& object) {
  if (!object.has_data()) out.required("data", "data is mandatory");
  if (object.revision() < 0)
    out.invalid("revision", object.revision(), "must be greater than or equal to 0");
}

}  // namespace troupe::api::validation
