// The placement of pods: selectors, affinity, tolerations, spreading, gates.
#include <algorithm>
#include <set>

#include "api/validation/checks.hpp"

namespace troupe::api::validation {
namespace {

using namespace core::v1;

void check_requirement(field_errors& out, const NodeSelectorRequirement& one) {
  const auto& op = one.operator_();
  const int values = one.values_size();
  if ((op == "In" || op == "NotIn") && values == 0)
    out.required("values", "must be specified when `operator` is 'In' or 'NotIn'");
  if ((op == "Exists" || op == "DoesNotExist") && values > 0)
    out.forbidden("values", "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
  if ((op == "Gt" || op == "Lt") && values != 1)
    out.required("values", "must be specified single value when `operator` is 'Lt' or 'Gt'");
}

void check_term(field_errors& out, const NodeSelectorTerm& term) {
  for (int i = 0; i < term.match_expressions_size(); ++i) {
    const auto step = out.at.item("matchExpressions", i);
    check_requirement(out, term.match_expressions(i));
    out.each("key", term.match_expressions(i).key(),
             check_qualified_name(term.match_expressions(i).key()));
  }
  for (int i = 0; i < term.match_fields_size(); ++i) {
    const auto step = out.at.item("matchFields", i);
    const auto& one = term.match_fields(i);
    if ((one.operator_() == "In" || one.operator_() == "NotIn") && one.values_size() != 1)
      out.required("values",
                   "must be only one value when `operator` is 'In' or 'NotIn' for node "
                   "field selector");
    if (one.key() != "metadata.name")
      out.invalid("key", one.key(), "not a valid field selector key");
  }
}

void check_weight(field_errors& out, std::int32_t weight) {
  if (weight < 1 || weight > 100) out.invalid("weight", weight, "must be in the range 1-100");
}

void check_node_affinity(field_errors& out, const NodeAffinity& affinity) {
  {
    const auto inner = out.at.field("requiredDuringSchedulingIgnoredDuringExecution");
    const auto& required = affinity.required_during_scheduling_ignored_during_execution();
    for (int i = 0; i < required.node_selector_terms_size(); ++i) {
      const auto place = out.at.item("nodeSelectorTerms", i);
      check_term(out, required.node_selector_terms(i));
    }
  }
  const auto& preferred = affinity.preferred_during_scheduling_ignored_during_execution();
  for (int i = 0; i < preferred.size(); ++i) {
    const auto inner = out.at.item("preferredDuringSchedulingIgnoredDuringExecution", i);
    check_weight(out, preferred[i].weight());
    const auto place = out.at.field("preference");
    check_term(out, preferred[i].preference());
  }
}

bool names(const meta::v1::LabelSelector& selector, const std::string& key) {
  const auto& expressions = selector.match_expressions();
  return selector.match_labels().contains(key) ||
         std::any_of(expressions.begin(), expressions.end(),
                     [&](const auto& one) { return one.key() == key; });
}

// Label keys whose values come from the pod itself: `ours` is a constraint or an affinity term.
template <class Keys, class Ours>
void check_keys(field_errors& out, std::string_view field, const Keys& keys, const Ours& ours) {
  if (!keys.empty() && !ours.has_label_selector())
    return out.forbidden(field, "must not be specified when labelSelector is not set");
  for (int i = 0; i < keys.size(); ++i) {
    const auto step = out.at.item(field, i);
    out.each({}, keys[i], check_qualified_name(keys[i]));
    if (names(ours.label_selector(), keys[i]))
      out.invalid({}, keys[i], "exists in both " + std::string{field} + " and labelSelector");
  }
}

void check_pod_term(field_errors& out, const PodAffinityTerm& term) {
  check_keys(out, "matchLabelKeys", term.match_label_keys(), term);
  check_keys(out, "mismatchLabelKeys", term.mismatch_label_keys(), term);
  for (int i = 0; i < term.match_label_keys_size(); ++i) {
    const auto& others = term.mismatch_label_keys();
    const auto& key = term.match_label_keys(i);
    const auto step = out.at.item("matchLabelKeys", i);
    if (std::find(others.begin(), others.end(), key) != others.end())
      out.invalid({}, key, "exists in both matchLabelKeys and mismatchLabelKeys");
  }
  {
    const auto step = out.at.field("labelSelector");
    check_label_selector(out, term.label_selector());
  }
  {
    const auto step = out.at.field("namespaceSelector");
    check_label_selector(out, term.namespace_selector());
  }
  for (const auto& name : term.namespaces())
    out.each("namespaces", name, check_dns_label(name));
}

template <class Affinity>
void check_pod_affinity(field_errors& out, std::string_view field, const Affinity& affinity) {
  const auto step = out.at.field(field);
  const auto& required = affinity.required_during_scheduling_ignored_during_execution();
  for (int i = 0; i < required.size(); ++i) {
    const auto inner = out.at.item("requiredDuringSchedulingIgnoredDuringExecution", i);
    check_pod_term(out, required[i]);
  }
  const auto& preferred = affinity.preferred_during_scheduling_ignored_during_execution();
  for (int i = 0; i < preferred.size(); ++i) {
    const auto inner = out.at.item("preferredDuringSchedulingIgnoredDuringExecution", i);
    check_weight(out, preferred[i].weight());
    const auto place = out.at.field("podAffinityTerm");
    check_pod_term(out, preferred[i].pod_affinity_term());
  }
}

void check_toleration(field_errors& out, const Toleration& toleration) {
  const auto& op = toleration.operator_();
  if (toleration.key().empty() && op != "Exists")
    out.invalid(
        "operator", op,
        "operator must be Exists when `key` is empty, which means \"match all values and all "
        "keys\"");
  if (toleration.has_toleration_seconds() && toleration.effect() != "NoExecute")
    out.invalid("effect", toleration.effect(),
                "effect must be 'NoExecute' when `tolerationSeconds` is set");
  if (op == "Exists" && !toleration.value().empty())
    out.invalid("operator", toleration.value(), "value must be empty when `operator` is 'Exists'");
  if (op.empty() || op == "Equal")
    out.each("operator", toleration.value(), check_label_value(toleration.value()));
}

void check_spread(field_errors& out, const PodSpec& spec) {
  constexpr std::string_view too_small = "must be greater than zero";
  std::set<std::string> seen;
  for (int i = 0; i < spec.topology_spread_constraints_size(); ++i) {
    const auto step = out.at.item("topologySpreadConstraints", i);
    const auto& one = spec.topology_spread_constraints(i);
    if (one.max_skew() < 1) out.invalid("maxSkew", one.max_skew(), too_small);
    if (one.has_min_domains() && one.min_domains() < 1)
      out.invalid("minDomains", one.min_domains(), too_small);
    auto pair = "{" + one.topology_key() + ", " + one.when_unsatisfiable() + "}";
    if (!seen.insert(pair).second) out.duplicate("{topologyKey, whenUnsatisfiable}", pair);
    if (one.has_min_domains() && one.when_unsatisfiable() != "DoNotSchedule")
      out.invalid("minDomains", one.min_domains(),
                  "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not " +
                      one.when_unsatisfiable());
    check_keys(out, "matchLabelKeys", one.match_label_keys(), one);
    const auto inner = out.at.field("labelSelector");
    check_label_selector(out, one.label_selector());
  }
}

void check_gates(field_errors& out, const PodSpec& spec) {
  std::set<std::string_view> names;
  for (int i = 0; i < spec.scheduling_gates_size(); ++i) {
    const auto step = out.at.item("schedulingGates", i);
    const auto& name = spec.scheduling_gates(i).name();
    if (!names.insert(name).second) out.duplicate({}, name);
  }
  if (!names.empty() && !spec.node_name().empty())
    out.forbidden("nodeName", "cannot be set until all schedulingGates have been cleared");
}

}  // namespace

void check_scheduling(field_errors& out, const PodSpec& spec) {
  check_labels(out, "nodeSelector", spec.node_selector());
  if (spec.has_affinity()) {
    const auto step = out.at.field("affinity");
    {
      const auto inner = out.at.field("nodeAffinity");
      check_node_affinity(out, spec.affinity().node_affinity());
    }
    check_pod_affinity(out, "podAffinity", spec.affinity().pod_affinity());
    check_pod_affinity(out, "podAntiAffinity", spec.affinity().pod_anti_affinity());
  }
  for (int i = 0; i < spec.tolerations_size(); ++i) {
    const auto step = out.at.item("tolerations", i);
    check_toleration(out, spec.tolerations(i));
  }
  check_spread(out, spec);
  check_gates(out, spec);
}

}  // namespace troupe::api::validation

namespace troupe::api {

std::vector<error_cause> validate_node_affinity(const core::v1::NodeAffinity& affinity) {
  field_errors out;
  validation::check_node_affinity(out, affinity);
  return out.take();
}

}  // namespace troupe::api
