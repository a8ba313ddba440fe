#include "actors/access/aggregation.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "actors/access/defaults.hpp"
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

// In the order of its selectors, each role once.
const aggregation::roles& aggregation::selected_by(const ClusterRole& role) {
  const auto [found, fresh] = selected_.try_emplace(&role);
  if (!fresh) return found->second;
  roles selected;
  std::set<std::string_view> names;
  for (const auto& wanted : role.aggregation_rule().cluster_role_selectors()) {
    const auto selector = api::label_selector::from(wanted);
    if (!selector) continue;
    for (const auto& [name, object] : all_)
      if (selector->matches(object->meta().labels()) && names.insert(name).second)
        selected.push_back(&object->as<ClusterRole>());
  }
  kept_ += selected.size();
  if (kept_ > defaults::selections_kept) {
    selected_.clear();
    kept_ = selected.size();
  }
  return selected_[&role] = std::move(selected);
}

rule_list aggregation::rules_of(const ClusterRole& role) {
  rule_list rules;
  std::set<std::string_view> seen{role.metadata().name()};
  // The next one is at the end. Not recursive: roles may select one another in a long chain.
  roles pending{&role};
  while (!pending.empty()) {
    const auto& next = *pending.back();
    pending.pop_back();
    if (!aggregates(next)) {
      add_rules(rules, next);
      continue;
    }
    roles selected;
    for (const auto* each : selected_by(next))
      if (seen.insert(each->metadata().name()).second) selected.push_back(each);
    pending.insert(pending.end(), selected.rbegin(), selected.rend());
  }
  return rules;
}

rule_list aggregated_rules(const ClusterRole& role, const cluster_roles& all) {
  return aggregation{all}.rules_of(role);
}

bool same_rules(const rule_list& a, const rule_list& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same_rule);
}

}  // namespace troupe::actors::access
