#include "api/strategy/workload_kinds.hpp"

#include <limits>

#include "api/strategy/defaults.hpp"
#include "api/strategy/special_kinds.hpp"
#include "api/validation/more_workloads.hpp"

namespace troupe::api {

namespace {

using autoscaling::v2::HPAScalingRules;

// Kubernetes, batch/v1 and autoscaling/v2 defaults.
constexpr int usual_backoff_limit = 6;
constexpr int usual_utilization_percent = 80;

template <class Workload>
void default_template(Workload& object) {
  default_pod_spec(*object.mutable_spec()->mutable_template_()->mutable_spec());
}

template <class Strategy>
void default_rolling_update(Strategy& strategy) {
  if (strategy.type() == "RollingUpdate") set_schema_defaults(*strategy.mutable_rolling_update());
}

void default_numbers(batch::v1::JobSpec& spec) {
  if (!spec.has_completions() && !spec.has_parallelism()) spec.set_completions(1);
  if (!spec.has_parallelism()) spec.set_parallelism(1);
  if (!spec.has_backoff_limit())
    spec.set_backoff_limit(spec.has_backoff_limit_per_index()
                               ? std::numeric_limits<std::int32_t>::max()
                               : usual_backoff_limit);
}

void add_policy(HPAScalingRules& rules, std::string_view type, int value) {
  constexpr int period_seconds = 15;
  auto& policy = *rules.add_policies();
  policy.set_type(std::string(type));
  policy.set_value(value);
  policy.set_period_seconds(period_seconds);
}

void default_behavior(autoscaling::v2::HorizontalPodAutoscalerBehavior& behavior) {
  auto& up = *behavior.mutable_scale_up();
  if (!up.has_stabilization_window_seconds()) up.set_stabilization_window_seconds(0);
  if (up.policies().empty()) {
    add_policy(up, "Pods", 4);
    add_policy(up, "Percent", 100);
  }
  auto& down = *behavior.mutable_scale_down();
  if (down.policies().empty()) add_policy(down, "Percent", 100);
  set_schema_defaults(behavior);
}

}  // namespace

void complete(apps::v1::DaemonSet& object) {
  default_template(object);
  default_rolling_update(*object.mutable_spec()->mutable_update_strategy());
}

void complete(apps::v1::StatefulSet& object) {
  default_template(object);
  default_rolling_update(*object.mutable_spec()->mutable_update_strategy());
  for (auto& claim : *object.mutable_spec()->mutable_volume_claim_templates())
    if (claim.status().phase().empty()) claim.mutable_status()->set_phase("Pending");
}

void complete(batch::v1::Job& object) {
  default_template(object);
  auto& spec = *object.mutable_spec();
  default_numbers(spec);
  const auto& labels = spec.template_().metadata().labels();
  if (object.metadata().labels().empty() && !labels.empty())
    *object.mutable_metadata()->mutable_labels() = labels;
  if (spec.completion_mode().empty()) spec.set_completion_mode("NonIndexed");
  if (!spec.has_suspend()) spec.set_suspend(false);
  if (spec.pod_replacement_policy().empty())
    spec.set_pod_replacement_policy(spec.has_pod_failure_policy() ? "Failed"
                                                                  : "TerminatingOrFailed");
  if (!spec.has_pod_failure_policy()) return;
  for (auto& rule : *spec.mutable_pod_failure_policy()->mutable_rules())
    for (auto& pattern : *rule.mutable_on_pod_conditions())
      if (pattern.status().empty()) pattern.set_status("True");
}

void complete(batch::v1::CronJob& object) {
  auto& job = *object.mutable_spec()->mutable_job_template()->mutable_spec();
  default_pod_spec(*job.mutable_template_()->mutable_spec());
}

void complete(autoscaling::v2::HorizontalPodAutoscaler& object) {
  auto& spec = *object.mutable_spec();
  if (spec.metrics().empty()) {
    auto& metric = *spec.add_metrics();
    metric.set_type("Resource");
    metric.mutable_resource()->set_name("cpu");
    metric.mutable_resource()->mutable_target()->set_type("Utilization");
    metric.mutable_resource()->mutable_target()->set_average_utilization(usual_utilization_percent);
  }
  if (spec.has_behavior()) default_behavior(*spec.mutable_behavior());
}

void begin(batch::v1::Job& object) {
  clear_status(object);
  auto& spec = *object.mutable_spec();
  if (spec.manual_selector()) return;
  const auto& meta = object.metadata();
  auto& labels = *spec.mutable_template_()->mutable_metadata()->mutable_labels();
  // Labels set by the author are kept; validation checks them.
  for (const auto& [name, value] :
       {std::pair{job_uid_label, &meta.uid()}, std::pair{job_name_label, &meta.name()},
        std::pair{old_job_uid_label, &meta.uid()}, std::pair{old_job_name_label, &meta.name()}})
    if (!labels.contains(name)) labels[name] = *value;
  (*spec.mutable_selector()->mutable_match_labels())[job_uid_label] = meta.uid();
  // A job without labels gets those of its pods, as defaulting does, before the new ones are added.
  if (meta.labels().empty()) *object.mutable_metadata()->mutable_labels() = labels;
}

}  // namespace troupe::api
