#include "actors/access/aggregation.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

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

void add_rules(rule_list& to, const ClusterRole& role) {
  for (const auto& rule : role.rules()) {
    const auto same = [&](const PolicyRule& each) { return same_rule(each, rule); };
    if (std::none_of(to.begin(), to.end(), same)) *to.Add() = rule;
  }
}

}  // namespace

bool aggregates(const ClusterRole& role) {
  return role.has_aggregation_rule();
}

rule_list aggregated_rules(const ClusterRole& role, const cluster_roles& all) {
  rule_list rules;
  std::set<std::string_view> seen{role.metadata().name()};
  // The next one is at the end. Not recursive: roles may select one another in a long chain.
  std::vector<const ClusterRole*> pending{&role};
  while (!pending.empty()) {
    const auto& next = *pending.back();
    pending.pop_back();
    if (!aggregates(next)) {
      add_rules(rules, next);
      continue;
    }
    std::vector<const ClusterRole*> selected;
    for (const auto& wanted : next.aggregation_rule().cluster_role_selectors()) {
      const auto selector = api::label_selector::from(wanted);
      if (!selector) continue;
      for (const auto& [name, object] : all)
        if (selector->matches(object->meta().labels()) && seen.insert(name).second)
          selected.push_back(&object->as<ClusterRole>());
    }
    pending.insert(pending.end(), selected.rbegin(), selected.rend());
  }
  return rules;
}

bool same_rules(const rule_list& a, const rule_list& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same_rule);
}

}  // namespace troupe::actors::access
