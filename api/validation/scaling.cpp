// Autoscalers and disruption budgets (kubernetes:
// pkg/apis/{autoscaling,policy}/validation).
#include "api/codec/codec.hpp"
#include "api/validation/more_workloads.hpp"
#include "api/validation/workload_parts.hpp"
#include "api/values/quantity.hpp"

namespace troupe::api::validation {
namespace {

using namespace autoscaling::v2;
using policy::v1::PodDisruptionBudget;

// Kubernetes, autoscaling/validation.
constexpr int longest_period_seconds = 1800;
constexpr int longest_window_seconds = 3600;

void check_reference(field_errors& out, std::string_view field,
                     const CrossVersionObjectReference& reference) {
  const auto step = out.at.field(field);
  out.each("kind", reference.kind(), check_path_segment(reference.kind()));
  out.each("name", reference.name(), check_path_segment(reference.name()));
}

void check_positive(field_errors& out, std::string_view field, const resource::Quantity& amount) {
  const auto parsed = quantity::parse(amount.string());
  if (!parsed)
    out.invalid(field, amount.string(), quantity_syntax);
  else if (parsed->sign() <= 0)
    out.invalid(field, amount.string(), "must be positive");
}

void check_target(field_errors& out, const MetricTarget& target) {
  const auto& type = target.type();
  if (type.empty()) out.required("type", "must specify a metric target type");
  if (type != "Utilization" && type != "Value" && type != "AverageValue")
    out.invalid("type", type, "must be either Utilization, Value, or AverageValue");
  if (target.has_average_utilization() && target.average_utilization() < 1)
    out.invalid("averageUtilization", target.average_utilization(), "must be greater than 0");
  if (target.has_value()) check_positive(out, "value", target.value());
  if (target.has_average_value()) check_positive(out, "averageValue", target.average_value());
}

void check_metric(field_errors& out, const MetricIdentifier& metric) {
  const auto step = out.at.field("metric");
  if (metric.name().empty())
    out.required("name", "must specify a metric name");
  else
    out.each("name", metric.name(), check_path_segment(metric.name()));
}

void check_source(field_errors& out, const ObjectMetricSource& source) {
  check_reference(out, "describedObject", source.described_object());
  check_metric(out, source.metric());
  const auto step = out.at.field("target");
  check_target(out, source.target());
  if (!source.target().has_value() && !source.target().has_average_value())
    out.required("averageValue", "must set either a target value or averageValue");
}

void check_source(field_errors& out, const PodsMetricSource& source) {
  check_metric(out, source.metric());
  const auto step = out.at.field("target");
  check_target(out, source.target());
  if (!source.target().has_average_value())
    out.required("averageValue", "must specify a positive target averageValue");
}

void check_resource_target(field_errors& out, const MetricTarget& target) {
  const auto step = out.at.field("target");
  check_target(out, target);
  if (!target.has_average_utilization() && !target.has_average_value())
    out.required("averageUtilization",
                 "must set either a target raw value or a target utilization");
  if (target.has_average_utilization() && target.has_average_value())
    out.forbidden("averageValue", "may not set both a target raw value and a target utilization");
}

void check_source(field_errors& out, const ResourceMetricSource& source) {
  check_resource_target(out, source.target());
}

void check_source(field_errors& out, const ContainerResourceMetricSource& source) {
  check_resource_target(out, source.target());
}

void check_source(field_errors& out, const ExternalMetricSource& source) {
  check_metric(out, source.metric());
  const auto step = out.at.field("target");
  const auto& target = source.target();
  check_target(out, target);
  if (!target.has_value() && !target.has_average_value())
    out.required("averageValue", "must set either a target value for metric or a per-pod target");
  if (target.has_value() && target.has_average_value())
    out.forbidden("value", "may not set both a target value for metric and a per-pod target");
}

// Only the source that `type` names must be present.
void check_metric_spec(field_errors& out, const MetricSpec& metric) {
  const auto look_at = [&](std::string_view type, std::string_view field, bool present,
                           const auto& source) {
    if (metric.type() == type && !present)
      return out.required(field, "must populate information for the given metric source");
    if (!present) return;
    if (metric.type() != type)
      return out.forbidden(field, "must populate the given metric source only");
    const auto step = out.at.field(field);
    check_source(out, source);
  };
  look_at("Object", "object", metric.has_object(), metric.object());
  look_at("Pods", "pods", metric.has_pods(), metric.pods());
  look_at("Resource", "resource", metric.has_resource(), metric.resource());
  look_at("ContainerResource", "containerResource", metric.has_container_resource(),
          metric.container_resource());
  look_at("External", "external", metric.has_external(), metric.external());
}

void check_scaling(field_errors& out, std::string_view field, const HPAScalingRules& rules) {
  const auto step = out.at.field(field);
  const int window = rules.stabilization_window_seconds();
  if (window < 0)
    out.invalid("stabilizationWindowSeconds", window, "must be greater than or equal to zero");
  if (window > longest_window_seconds)
    out.invalid("stabilizationWindowSeconds", window,
                "must be less than or equal to " + std::to_string(longest_window_seconds));
  if (rules.policies().empty()) out.required("policies", "must specify at least one Policy");
  for (int i = 0; i < rules.policies_size(); ++i) {
    const auto inner = out.at.item("policies", i);
    const auto& policy = rules.policies(i);
    if (policy.value() <= 0) out.invalid("value", policy.value(), "must be greater than zero");
    if (policy.period_seconds() <= 0)
      out.invalid("periodSeconds", policy.period_seconds(), "must be greater than zero");
    if (policy.period_seconds() > longest_period_seconds)
      out.invalid("periodSeconds", policy.period_seconds(),
                  "must be less than or equal to " + std::to_string(longest_period_seconds));
  }
}

}  // namespace

void check(field_errors& out, const HorizontalPodAutoscaler& object) {
  const auto step = out.at.field("spec");
  const auto& spec = object.spec();
  if (spec.has_min_replicas() && spec.min_replicas() < 1)
    out.invalid("minReplicas", spec.min_replicas(), "must be greater than or equal to 1");
  if (spec.max_replicas() < 1)
    out.invalid("maxReplicas", spec.max_replicas(), "must be greater than 0");
  if (spec.has_min_replicas() && spec.max_replicas() < spec.min_replicas())
    out.invalid("maxReplicas", spec.max_replicas(),
                "must be greater than or equal to `minReplicas`");
  // Its required fields, reported even if it is absent.
  if (!spec.has_scale_target_ref()) {
    out.required("scaleTargetRef.kind");
    out.required("scaleTargetRef.name");
  }
  check_reference(out, "scaleTargetRef", spec.scale_target_ref());
  for (int i = 0; i < spec.metrics_size(); ++i) {
    const auto inner = out.at.item("metrics", i);
    check_metric_spec(out, spec.metrics(i));
  }
  const auto inner = out.at.field("behavior");
  if (spec.behavior().has_scale_up()) check_scaling(out, "scaleUp", spec.behavior().scale_up());
  if (spec.behavior().has_scale_down())
    check_scaling(out, "scaleDown", spec.behavior().scale_down());
}

void check(field_errors& out, const PodDisruptionBudget& object) {
  const auto& spec = object.spec();
  if (spec.has_min_available() && spec.has_max_unavailable())
    out.invalid_json("spec", encode_json(spec, {}, {}),
                     "minAvailable and maxUnavailable cannot be both set");
  const auto step = out.at.field("spec");
  const auto look_at = [&](std::string_view field, const intstr::IntOrString& value) {
    check_at_most_all(out, field, read_share(out, field, value), value);
  };
  if (spec.has_min_available()) look_at("minAvailable", spec.min_available());
  if (spec.has_max_unavailable()) look_at("maxUnavailable", spec.max_unavailable());
  if (!spec.has_selector()) return;
  const auto inner = out.at.field("selector");
  check_label_selector(out, spec.selector());
}

}  // namespace troupe::api::validation
