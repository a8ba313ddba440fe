#include "actors/scheduler/framework/pod_info.hpp"

#include <algorithm>

#include "actors/controllers/kit/claims.hpp"
#include "actors/scheduler/framework/cluster_view.hpp"
#include "api/schema/core_pod.pb.h"
#include "api/values/integer.hpp"

namespace troupe::actors::scheduler {

namespace {

using api::core::v1::Affinity;
using api::core::v1::Container;
using api::core::v1::NodeSelectorRequirement;
using api::core::v1::NodeSelectorTerm;
using api::core::v1::Pod;
using api::core::v1::PodAffinityTerm;

api::label_requirement compile(const NodeSelectorRequirement& from) {
  using op = api::label_operator;
  api::label_requirement result;
  result.key = from.key();
  result.values.assign(from.values().begin(), from.values().end());
  std::sort(result.values.begin(), result.values.end());
  const auto& name = from.operator_();
  result.op = name == "In"             ? op::in
              : name == "NotIn"        ? op::not_in
              : name == "Exists"       ? op::exists
              : name == "DoesNotExist" ? op::not_exists
              : name == "Gt"           ? op::greater
                                       : op::less;
  if (result.op != op::greater && result.op != op::less) return result;
  const auto text = result.values.empty() ? std::string{} : result.values.front();
  if (const auto bound = api::parse_integer<std::int64_t>(text)) {
    result.bound = *bound;
    return result;
  }
  // Not a number, or out of range: matches nothing.
  result.op = op::in;
  result.values.clear();
  return result;
}

node_term compile(const NodeSelectorTerm& from) {
  node_term term;
  for (const auto& expression : from.match_expressions())
    term.labels.push_back(compile(expression));
  for (const auto& field : from.match_fields())
    if (!field.values().empty())
      term.names.emplace_back(field.values(0), field.operator_() == "In");
  term.never = term.labels.empty() && term.names.empty();
  return term;
}

// An invalid selector matches nothing.
api::label_selector compile(const api::meta::v1::LabelSelector& from) {
  return api::label_selector::from(from).value_or(api::label_selector::nothing());
}

// A missing selector matches nothing, too.
template <class From>
api::label_selector pods_in(const From& from) {
  return from.has_label_selector() ? compile(from.label_selector())
                                   : api::label_selector::nothing();
}

// Adds requirements that counted pods have the same values of these keys as `owner`, or other ones;
// keys that `owner` lacks are ignored.
void compare_labels(const Pod& owner, const google::protobuf::RepeatedPtrField<std::string>& keys,
                    api::label_operator op, api::label_selector& selector) {
  const auto& labels = owner.metadata().labels();
  for (const auto& key : keys)
    if (const auto found = labels.find(key); found != labels.end())
      selector.add({.key = key, .op = op, .values = {found->second}});
}

affinity_term compile(const PodAffinityTerm& from, const Pod& owner, std::int32_t weight = 0) {
  affinity_term term;
  term.selector = pods_in(from);
  compare_labels(owner, from.match_label_keys(), api::label_operator::in, term.selector);
  compare_labels(owner, from.mismatch_label_keys(), api::label_operator::not_in, term.selector);
  term.namespaces.assign(from.namespaces().begin(), from.namespaces().end());
  // An empty namespaceSelector matches all; the default is the pod's own namespace.
  if (from.has_namespace_selector()) {
    term.by_labels_of_namespace = compile(from.namespace_selector());
  } else if (term.namespaces.empty()) {
    term.namespaces.push_back(owner.metadata().namespace_());
  }
  std::sort(term.namespaces.begin(), term.namespaces.end());
  term.topology_key = from.topology_key();
  term.weight = weight;
  return term;
}

void read_affinity(const Affinity& affinity, const Pod& pod, pod_info& info) {
  auto nodes = read_node_affinity(affinity.node_affinity());
  info.has_required_nodes = nodes.has_required;
  info.required_nodes = std::move(nodes.required);
  info.preferred_nodes = std::move(nodes.preferred);
  const auto read = [&pod](const auto& from, auto& required, auto& preferred) {
    for (const auto& term : from.required_during_scheduling_ignored_during_execution())
      required.push_back(compile(term, pod));
    for (const auto& term : from.preferred_during_scheduling_ignored_during_execution())
      preferred.push_back(compile(term.pod_affinity_term(), pod, term.weight()));
  };
  read(affinity.pod_affinity(), info.required_affinity, info.preferred_affinity);
  read(affinity.pod_anti_affinity(), info.required_anti_affinity, info.preferred_anti_affinity);
}

// Those of containers that run at the same time (kubernetes: scheduler/util.GetHostPorts).
void read_ports(const Pod& pod, pod_info& info) {
  const auto read = [&info](const Container& container) {
    for (const auto& port : container.ports())
      if (port.host_port() > 0)
        info.ports.push_back({port.host_port(), port.protocol().empty() ? "TCP" : port.protocol(),
                              port.host_ip() == "0.0.0.0" ? std::string{} : port.host_ip()});
  };
  for (const auto& container : pod.spec().containers())
    read(container);
  for (const auto& container : pod.spec().init_containers())
    if (container.restart_policy() == "Always") read(container);
}

void read_spread(const Pod& pod, pod_info& info) {
  for (const auto& from : pod.spec().topology_spread_constraints()) {
    auto& constraint = info.spread.emplace_back(read_default_constraint(from));
    constraint.selector = pods_in(from);
    compare_labels(pod, from.match_label_keys(), api::label_operator::in, constraint.selector);
  }
}

}  // namespace

spread_constraint read_default_constraint(const api::core::v1::TopologySpreadConstraint& from) {
  return {.max_skew = from.max_skew(),
          .topology_key = from.topology_key(),
          .hard = from.when_unsatisfiable() != "ScheduleAnyway",
          .selector = {},
          .min_domains = std::max(from.min_domains(), 1),
          .honors_affinity = from.node_affinity_policy() != "Ignore",
          .honors_taints = from.node_taints_policy() == "Honor"};
}

node_preferences read_node_affinity(const api::core::v1::NodeAffinity& from) {
  node_preferences result;
  if (from.has_required_during_scheduling_ignored_during_execution()) {
    result.has_required = true;
    result.required = read_node_terms(from.required_during_scheduling_ignored_during_execution());
  }
  for (const auto& preferred : from.preferred_during_scheduling_ignored_during_execution())
    result.preferred.emplace_back(preferred.weight(), compile(preferred.preference()));
  return result;
}

bool node_preferences::admits(const std::string& node, const api::label_map& labels) const {
  return !has_required || std::any_of(required.begin(), required.end(),
                                      [&](const auto& term) { return term.matches(node, labels); });
}

bool host_port::conflicts(const host_port& other) const {
  return port == other.port && protocol == other.protocol &&
         (ip.empty() || other.ip.empty() || ip == other.ip);
}

std::vector<node_term> read_node_terms(const api::core::v1::NodeSelector& selector) {
  std::vector<node_term> terms;
  for (const auto& term : selector.node_selector_terms())
    terms.push_back(compile(term));
  return terms;
}

bool node_term::matches(const std::string& node, const api::label_map& labels_of_node) const {
  if (never) return false;
  return std::all_of(names.begin(), names.end(),
                     [&](const auto& name) { return (name.first == node) == name.second; }) &&
         std::all_of(labels.begin(), labels.end(),
                     [&](const auto& requirement) { return requirement.matches(labels_of_node); });
}

bool pod_info::selects(const std::string& node, const api::label_map& labels_of_node) const {
  const bool selected =
      std::all_of(node_selector.begin(), node_selector.end(),
                  [&](const auto& requirement) { return requirement.matches(labels_of_node); });
  return selected &&
         (!has_required_nodes ||
          std::any_of(required_nodes.begin(), required_nodes.end(),
                      [&](const auto& term) { return term.matches(node, labels_of_node); }));
}

bool affinity_term::matches(const api::object& pod, const cluster_view& view) const {
  const auto& meta = pod.meta();
  const auto& ns = meta.namespace_();
  return (std::binary_search(namespaces.begin(), namespaces.end(), ns) ||
          (by_labels_of_namespace && view.selects_namespace(*by_labels_of_namespace, ns))) &&
         selector.matches(meta.labels());
}

pod_info_ptr read_pod_info(api::object_ptr object, std::uint64_t request) {
  auto info = std::make_shared<pod_info>();
  const auto& pod = object->as<Pod>();
  info->key = object->kind().key(pod.metadata().namespace_(), pod.metadata().name());
  info->request = request;
  info->priority = pod.spec().priority();
  info->requests = pod_requests(pod);
  info->scoring_requests = pod_requests_for_scoring(pod);
  info->nominated = !pod.status().nominated_node_name().empty();
  for (const auto& [key, value] : pod.spec().node_selector()) {
    api::label_requirement requirement;
    requirement.key = key;
    requirement.op = api::label_operator::in;
    requirement.values = {value};
    info->node_selector.push_back(std::move(requirement));
  }
  if (pod.spec().has_affinity()) read_affinity(pod.spec().affinity(), pod, *info);
  read_ports(pod, *info);
  read_spread(pod, *info);
  info->controller = controller_uid(*object);
  info->pod = std::move(object);
  return info;
}

}  // namespace troupe::actors::scheduler
