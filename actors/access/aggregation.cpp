#include "actors/access/aggregation.hpp"

#include <algorithm>

#include "api/schema/meta_object.pb.h"
#include "api/selectors/selector.hpp"

namespace troupe::actors::access {

using api::rbac::v1::ClusterRole;

namespace {

bool same_texts(const google::protobuf::RepeatedPtrField<std::string>& a,
                const google::protobuf::RepeatedPtrField<std::string>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

bool same_rule(const PolicyRule& a, const PolicyRule& b) {
  return same_texts(a.verbs(), b.verbs()) && same_texts(a.api_groups(), b.api_groups()) &&
         same_texts(a.resources(), b.resources()) &&
         same_texts(a.resource_names(), b.resource_names()) &&
         same_texts(a.non_resource_ur_ls(), b.non_resource_ur_ls());
}

}  // namespace

bool aggregates(const ClusterRole& role) {
  return role.has_aggregation_rule();
}

rule_list aggregated_rules(const ClusterRole& role, const cluster_roles& all) {
  rule_list out;
  const auto add = [&](const PolicyRule& rule) {
    const bool known = std::any_of(out.begin(), out.end(),
                                   [&](const PolicyRule& each) { return same_rule(each, rule); });
    if (!known) *out.Add() = rule;
  };
  for (const auto& wanted : role.aggregation_rule().cluster_role_selectors()) {
    const auto selector = api::label_selector::from(wanted);
    if (!selector) continue;
    for (const auto& [name, object] : all) {
      if (name == role.metadata().name() || !selector->matches(object->meta().labels())) continue;
      for (const auto& rule : object->as<ClusterRole>().rules())
        add(rule);
    }
  }
  return out;
}

bool same_rules(const rule_list& a, const rule_list& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same_rule);
}

}  // namespace troupe::actors::access
