// The checks of kinds with few rules.
#include <algorithm>
#include <set>

#include "api/validation/checks.hpp"
#include "api/validation/system_priorities.hpp"

namespace troupe::api::validation {

using namespace core::v1;

namespace {

// Kubernetes, scheduling: HighestUserDefinablePriority.
constexpr int highest_user_priority = 1'000'000'000;

}  // namespace

void check(findings& out, const Pod& pod) {
  const auto step = out.at.field("spec");
  check_pod_spec(out, pod.spec());
  check_ephemeral_containers(out, pod.spec());
}

void check(findings& out, const PodTemplate& object) {
  const auto step = out.at.field("template");
  check_pod_template(out, object.template_());
}

void check(findings& out, const Node& node) {
  const auto step = out.at.field("spec");
  std::set<std::string> seen;
  for (int i = 0; i < node.spec().taints_size(); ++i) {
    const auto inner = out.at.item("taints", i);
    const auto& taint = node.spec().taints(i);
    if (!seen.insert(taint.key() + ":" + taint.effect()).second)
      out.duplicate({}, taint.key() + ":" + taint.effect());
  }
}

void check(findings& out, const Namespace& ns) {
  const auto step = out.at.field("spec");
  for (const auto& finalizer : ns.spec().finalizers())
    out.each("finalizers", finalizer, check_qualified_name(finalizer));
}

void check(findings& out, const Event& event) {
  // Events about cluster-scoped objects are stored in these namespaces.
  const auto& subject_namespace = event.involved_object().namespace_();
  const auto& ns = event.metadata().namespace_();
  const bool fits =
      subject_namespace.empty() ? ns == "default" || ns == "kube-system" : subject_namespace == ns;
  if (fits) return;
  const auto step = out.at.field("involvedObject");
  out.invalid("namespace", subject_namespace, "does not match event.namespace");
}

void check(findings& out, const Binding& binding) {
  const auto step = out.at.field("target");
  const auto& kind = binding.target().kind();
  if (!kind.empty() && kind != "Node")
    out.unsupported("kind", kind, std::initializer_list<std::string_view>{"Node", "<empty>"});
  if (binding.target().name().empty()) out.required("name");
}

void check(findings& out, const scheduling::v1::PriorityClass& object) {
  const auto* known = find_system_priority(object.metadata().name());
  if (known != nullptr && object.value() == known->value && !object.global_default()) return;
  if (object.metadata().name().starts_with("system-")) {
    const auto step = out.at.field("metadata");
    out.forbidden("name",
                  "priority class names with 'system-' prefix are reserved for system use "
                  "only");
  } else if (object.value() > highest_user_priority) {
    out.forbidden("value", "maximum allowed value of a user defined priority is " +
                               std::to_string(highest_user_priority));
  }
}

void check_update(findings& out, const Node& now, const Node& was) {
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

void check_create(findings& out, const Pod& pod) {
  const auto step = out.at.field("spec");
  if (!pod.spec().ephemeral_containers().empty())
    out.forbidden("ephemeralContainers", "cannot be set on create");
}

}  // namespace troupe::api::validation
