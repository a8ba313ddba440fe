// Workloads: ReplicationController, ReplicaSet, Deployment.
#include <charconv>

#include "api/codec/codec.hpp"
#include "api/validation/checks.hpp"
#include "api/validation/workload_parts.hpp"

namespace troupe::api::validation {

using core::v1::PodTemplateSpec;

std::string labels_as_json(const PodTemplateSpec& made_from) {
  meta::v1::ObjectMeta alone;
  *alone.mutable_labels() = made_from.metadata().labels();
  auto text = encode_json(alone, {}, {});
  // {"labels":{…}}
  const auto open = text.find('{', 1);
  return open == std::string::npos ? "null" : text.substr(open, text.size() - open - 1);
}

void check_selected(field_errors& out, const PodTemplateSpec& made_from,
                    const label_selector& selector) {
  if (selector.everything() || selector.matches(made_from.metadata().labels())) return;
  const auto inner = out.at.field("metadata");
  out.invalid_json("labels", labels_as_json(made_from),
                   "`selector` does not match template `labels`");
}

void check_template(field_errors& out, const PodTemplateSpec& made_from,
                    const label_selector& selector, std::string_view kind) {
  const auto step = out.at.field("template");
  check_selected(out, made_from, selector);
  check_pod_template(out, made_from);
  const auto inner = out.at.field("spec");
  const auto& policy = made_from.spec().restart_policy();
  if (policy == "OnFailure" || policy == "Never")
    out.unsupported("restartPolicy", policy, std::initializer_list<std::string_view>{"Always"});
  if (made_from.spec().has_active_deadline_seconds())
    out.forbidden("activeDeadlineSeconds",
                  "activeDeadlineSeconds in " + std::string(kind) + " is not Supported");
}

share read_share(field_errors& out, std::string_view field, const intstr::IntOrString& value) {
  if (value.type() == 0) {
    if (value.int_val() < 0)
      out.invalid(field, value.int_val(), "must be greater than or equal to 0");
    return {value.int_val() >= 0, value.int_val(), false};
  }
  const auto& text = value.str_val();
  const auto error_messages = check_percent(text);
  out.each(field, text, error_messages);
  if (!error_messages.empty()) return {};
  std::int64_t amount = 0;
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size() - 1, amount);
  if (ec != std::errc()) amount = INT64_MAX;
  return {true, amount, true};
}

std::string share_as_json(const intstr::IntOrString& value) {
  return value.type() == 0 ? std::to_string(value.int_val()) : quoted(value.str_val());
}

void check_at_most_all(field_errors& out, std::string_view field, const share& given,
                       const intstr::IntOrString& value) {
  if (given.valid && given.percent && given.amount > 100)
    out.invalid(field, value.str_val(), "must not be greater than 100%");
}

namespace {

void check_strategy(field_errors& out, const apps::v1::DeploymentStrategy& strategy) {
  const auto step = out.at.field("strategy");
  if (strategy.type() == "Recreate") {
    if (strategy.has_rolling_update())
      out.forbidden("rollingUpdate", "may not be specified when strategy `type` is 'Recreate'");
    return;
  }
  if (!strategy.has_rolling_update()) return;
  const auto inner = out.at.field("rollingUpdate");
  const auto& rolling = strategy.rolling_update();
  const auto missing = read_share(out, "maxUnavailable", rolling.max_unavailable());
  const auto surplus = read_share(out, "maxSurge", rolling.max_surge());
  if (missing.valid && surplus.valid && missing.amount == 0 && surplus.amount == 0)
    out.invalid_json("maxUnavailable", share_as_json(rolling.max_unavailable()),
                     "may not be 0 when `maxSurge` is 0");
  check_at_most_all(out, "maxUnavailable", missing, rolling.max_unavailable());
}

}  // namespace

void check_workload(field_errors& out, const core::v1::ReplicationController& object) {
  const auto step = out.at.field("spec");
  const auto& spec = object.spec();
  check_labels(out, "selector", spec.selector());
  if (spec.selector().empty()) out.required("selector");
  if (spec.has_template_())
    check_template(out, spec.template_(), label_selector::from(spec.selector()),
                   "ReplicationController");
}

void check_workload(field_errors& out, const apps::v1::ReplicaSet& object) {
  const auto step = out.at.field("spec");
  check_apps(out, object.spec(), "ReplicaSet", "deployment");
}

void check_workload(field_errors& out, const apps::v1::Deployment& object) {
  const auto step = out.at.field("spec");
  const auto& spec = object.spec();
  check_apps(out, spec, "Deployment", "deployment");
  check_strategy(out, spec.strategy());
  if (spec.has_progress_deadline_seconds() &&
      spec.progress_deadline_seconds() <= spec.min_ready_seconds())
    out.invalid("progressDeadlineSeconds", spec.progress_deadline_seconds(),
                "must be greater than minReadySeconds");
}

}  // namespace troupe::api::validation
