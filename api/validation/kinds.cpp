// The checks of kinds with few rules.
#include <algorithm>
#include <set>

#include "api/validation/checks.hpp"
#include "api/validation/system_priorities.hpp"
#include "api/values/cidr.hpp"

namespace troupe::api::validation {

using namespace core::v1;

namespace {

// Kubernetes, scheduling: HighestUserDefinablePriority.
constexpr int highest_user_priority = 1'000'000'000;

// Kubernetes, core/validation/events.go.
constexpr std::size_t longest_name_bytes = 128;
constexpr std::size_t longest_note_bytes = 1024;
constexpr int shortest_series = 2;

// Why upstream does not accept the class as one of the system's.
std::string objection(const scheduling::v1::PriorityClass& object, const system_priority* known) {
  const std::string& name = object.metadata().name();
  if (known == nullptr) return name + " is not a known system priority class";
  if (object.value() != known->value)
    return "value of " + name + " PriorityClass must be " + std::to_string(known->value);
  return "globalDefault of " + name + " PriorityClass must be false";
}

// At most one range of each family.
void check_pod_ranges(field_errors& out, const NodeSpec& spec) {
  std::string shown;
  int of_family[2] = {0, 0};
  for (int i = 0; i < spec.pod_cidrs_size(); ++i) {
    const auto step = out.at.item("podCIDRs", i);
    const auto& text = spec.pod_cidrs(i);
    shown += (i == 0 ? "" : ",") + quoted(text);
    out.each({}, text, check_cidr(text));
    if (const auto range = cidr::parse(text)) ++of_family[range->is_v6() ? 1 : 0];
  }
  if (of_family[0] > 1 || of_family[1] > 1)
    out.invalid_json("podCIDRs", "[" + shown + "]",
                     "may specify no more than one CIDR for each IP family");
}

void check_length(field_errors& out, std::string_view field, const std::string& value,
                  std::size_t limit) {
  if (value.size() > limit)
    out.invalid(field, "", "can have at most " + std::to_string(limit) + " characters");
}

void need(field_errors& out, std::string_view field, const std::string& value) {
  if (value.empty()) out.required(field);
  check_length(out, field, value, longest_name_bytes);
}

// Who sets eventTime must name the reporter and the action.
template <class Any>
void check_reporter(field_errors& out, const Any& event, std::string_view controller_field,
                    const std::string& controller, const std::string& note) {
  if (controller.empty()) out.required(controller_field);
  out.each(controller_field, controller, check_qualified_name(controller));
  need(out, "reportingInstance", event.reporting_instance());
  need(out, "action", event.action());
  need(out, "reason", event.reason());
  check_length(out, "message", note, longest_note_bytes);
}

void check_subject(field_errors& out, const std::string& subject_namespace, const std::string& ns) {
  // Events about cluster-scoped objects are stored in these namespaces.
  const bool fits =
      subject_namespace.empty() ? ns == "default" || ns == "kube-system" : subject_namespace == ns;
  if (fits) return;
  const auto step = out.at.field("involvedObject");
  out.invalid("namespace", subject_namespace, "does not match event.namespace");
}

}  // namespace

void check(field_errors& out, const Pod& pod) {
  const auto step = out.at.field("spec");
  check_pod_spec(out, pod.spec());
  check_ephemeral_containers(out, pod.spec());
}

void check(field_errors& out, const PodTemplate& object) {
  const auto step = out.at.field("template");
  check_pod_template(out, object.template_());
}

void check(field_errors& out, const Node& node) {
  const auto step = out.at.field("spec");
  check_pod_ranges(out, node.spec());
  std::set<std::string> seen;
  for (int i = 0; i < node.spec().taints_size(); ++i) {
    const auto inner = out.at.item("taints", i);
    const auto& taint = node.spec().taints(i);
    if (!seen.insert(taint.key() + ":" + taint.effect()).second)
      out.duplicate({}, taint.key() + ":" + taint.effect());
  }
}

void check(field_errors& out, const Namespace& ns) {
  const auto step = out.at.field("spec");
  for (const auto& finalizer : ns.spec().finalizers())
    out.each("finalizers", finalizer, check_qualified_name(finalizer));
}

void check(field_errors& out, const Event& event) {
  check_subject(out, event.involved_object().namespace_(), event.metadata().namespace_());
  if (event.has_event_time())
    check_reporter(out, event, "reportingComponent", event.reporting_component(), event.message());
}

void check_create(field_errors& out, const events::v1::Event& event) {
  check_subject(out, event.regarding().namespace_(), event.metadata().namespace_());
  if (event.has_event_time())
    check_reporter(out, event, "reportingController", event.reporting_controller(), event.note());
  else
    out.required("eventTime");
  if (event.has_series()) {
    const auto step = out.at.field("series");
    if (event.series().count() < shortest_series)
      out.invalid("count", "", "should be at least " + std::to_string(shortest_series));
    if (!event.series().has_last_observed_time()) out.required("lastObservedTime");
  }
  if (event.type() != "Normal" && event.type() != "Warning")
    out.invalid("type", "", "has invalid value: " + event.type());
  constexpr std::string_view unset = "needs to be unset";
  if (event.has_deprecated_first_timestamp()) out.invalid("firstTimestamp", "", unset);
  if (event.has_deprecated_last_timestamp()) out.invalid("lastTimestamp", "", unset);
  if (event.deprecated_count() != 0) out.invalid("count", "", unset);
  if (!event.deprecated_source().component().empty() || !event.deprecated_source().host().empty())
    out.invalid("source", "", unset);
}

void check(field_errors& out, const Binding& binding) {
  const auto step = out.at.field("target");
  const auto& kind = binding.target().kind();
  if (!kind.empty() && kind != "Node")
    out.unsupported("kind", kind, std::initializer_list<std::string_view>{"Node", "<empty>"});
  if (binding.target().name().empty()) out.required("name");
}

void check(field_errors& out, const coordination::v1::Lease& object) {
  const auto step = out.at.field("spec");
  const auto seconds = object.spec().lease_duration_seconds();
  if (object.spec().has_lease_duration_seconds() && seconds < 1)
    out.invalid("leaseDurationSeconds", seconds, "must be greater than 0");
}

void check(field_errors& out, const scheduling::v1::PriorityClass& object) {
  const auto* known = find_system_priority(object.metadata().name());
  if (known != nullptr && object.value() == known->value && !object.global_default()) return;
  if (object.metadata().name().starts_with("system-")) {
    const auto step = out.at.field("metadata");
    out.forbidden("name",
                  "priority class names with 'system-' prefix are reserved for system use "
                  "only. error: " +
                      objection(object, known));
  } else if (object.value() > highest_user_priority) {
    out.forbidden("value", "maximum allowed value of a user defined priority is " +
                               std::to_string(highest_user_priority));
  }
}

void check_update(field_errors& out, const Node& now, const Node& was) {
  const auto step = out.at.field("spec");
  const auto keep = [&](std::string_view field, const std::string& a, const std::string& b) {
    if (!b.empty() && a != b)
      out.forbidden(field, "node updates may not change " + std::string(field) +
                               " except from \"\" to valid");
  };
  keep("podCIDR", now.spec().pod_cidr(), was.spec().pod_cidr());
  const auto &ranges = now.spec().pod_cidrs(), &old_ranges = was.spec().pod_cidrs();
  if (!old_ranges.empty() &&
      !std::equal(ranges.begin(), ranges.end(), old_ranges.begin(), old_ranges.end()))
    out.forbidden("podCIDRs", "node updates may not change podCIDR except from \"\" to valid");
  keep("providerID", now.spec().provider_id(), was.spec().provider_id());
}

void check_create(field_errors& out, const Pod& pod) {
  const auto step = out.at.field("spec");
  if (!pod.spec().ephemeral_containers().empty())
    out.forbidden("ephemeralContainers", "cannot be set on create");
}

}  // namespace troupe::api::validation
