#include "actors/scheduler/pod_info.hpp"

#include <algorithm>
#include <charconv>

#include "actors/claims.hpp"
#include "api/schema/core_pod.pb.h"

namespace troupe::actors::scheduler {

namespace {

using api::core::v1::Affinity;
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
  if (!result.values.empty()) {
    const auto& text = result.values.front();
    std::from_chars(text.data(), text.data() + text.size(), result.bound);
  }
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

affinity_term compile(const PodAffinityTerm& from, const Pod& owner, std::int32_t weight = 0) {
  affinity_term term;
  term.selector = from.has_label_selector() ? api::label_selector::from(from.label_selector())
                                                  .value_or(api::label_selector::nothing())
                                            : api::label_selector::nothing();
  term.namespaces.assign(from.namespaces().begin(), from.namespaces().end());
  // An empty namespaceSelector means all; without either, the pod's own namespace counts.
  if (from.has_namespace_selector()) {
    term.all_namespaces = from.namespace_selector().match_labels().empty() &&
                          from.namespace_selector().match_expressions().empty();
  } else if (term.namespaces.empty()) {
    term.namespaces.push_back(owner.metadata().namespace_());
  }
  std::sort(term.namespaces.begin(), term.namespaces.end());
  term.topology_key = from.topology_key();
  term.weight = weight;
  return term;
}

void read_affinity(const Affinity& affinity, const Pod& pod, pod_info& info) {
  const auto& nodes = affinity.node_affinity();
  if (nodes.has_required_during_scheduling_ignored_during_execution()) {
    info.has_required_nodes = true;
    for (const auto& term :
         nodes.required_during_scheduling_ignored_during_execution().node_selector_terms())
      info.required_nodes.push_back(compile(term));
  }
  for (const auto& preferred : nodes.preferred_during_scheduling_ignored_during_execution())
    info.preferred_nodes.emplace_back(preferred.weight(), compile(preferred.preference()));
  const auto read = [&pod](const auto& from, auto& required, auto& preferred) {
    for (const auto& term : from.required_during_scheduling_ignored_during_execution())
      required.push_back(compile(term, pod));
    for (const auto& term : from.preferred_during_scheduling_ignored_during_execution())
      preferred.push_back(compile(term.pod_affinity_term(), pod, term.weight()));
  };
  read(affinity.pod_affinity(), info.required_affinity, info.preferred_affinity);
  read(affinity.pod_anti_affinity(), info.required_anti_affinity, info.preferred_anti_affinity);
}

void read_ports(const Pod& pod, pod_info& info) {
  for (const auto& container : pod.spec().containers())
    for (const auto& port : container.ports())
      if (port.host_port() > 0)
        info.ports.push_back({port.host_port(), port.protocol().empty() ? "TCP" : port.protocol(),
                              port.host_ip() == "0.0.0.0" ? std::string{} : port.host_ip()});
}

void read_spread(const Pod& pod, pod_info& info) {
  for (const auto& from : pod.spec().topology_spread_constraints()) {
    auto selector =
        api::label_selector::from(from.label_selector()).value_or(api::label_selector::nothing());
    info.spread.push_back({from.max_skew(), from.topology_key(),
                           from.when_unsatisfiable() != "ScheduleAnyway", std::move(selector),
                           std::max(from.min_domains(), 1)});
  }
}

}  // namespace

bool host_port::conflicts(const host_port& other) const {
  return port == other.port && protocol == other.protocol &&
         (ip.empty() || other.ip.empty() || ip == other.ip);
}

bool node_term::matches(const std::string& node, const api::label_map& labels_of_node) const {
  if (never) return false;
  return std::all_of(names.begin(), names.end(),
                     [&](const auto& name) { return (name.first == node) == name.second; }) &&
         std::all_of(labels.begin(), labels.end(),
                     [&](const auto& requirement) { return requirement.matches(labels_of_node); });
}

bool affinity_term::matches(const api::object& pod) const {
  const auto& meta = pod.meta();
  return (all_namespaces ||
          std::binary_search(namespaces.begin(), namespaces.end(), meta.namespace_())) &&
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
