#include "actors/access/aggregation.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

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

// Adds the rules of roles. Those of a role that itself aggregates are those of its selected roles,
// each role once: roles that select each other end with the same rules.
class collector {
 public:
  explicit collector(const cluster_roles& all) : all_{all} {}

  void add_selected(const ClusterRole& role) {
    seen_.insert(role.metadata().name());
    for (const auto& wanted : role.aggregation_rule().cluster_role_selectors()) {
      const auto selector = api::label_selector::from(wanted);
      if (!selector) continue;
      for (const auto& [name, object] : all_)
        if (selector->matches(object->meta().labels()) && seen_.insert(name).second)
          add(object->as<ClusterRole>());
    }
  }

  rule_list take() { return std::move(rules_); }

 private:
  void add(const ClusterRole& role) {
    if (aggregates(role)) return add_selected(role);
    for (const auto& rule : role.rules()) {
      const auto same = [&](const PolicyRule& each) { return same_rule(each, rule); };
      if (std::none_of(rules_.begin(), rules_.end(), same)) *rules_.Add() = rule;
    }
  }

  const cluster_roles& all_;
  std::set<std::string_view> seen_;
  rule_list rules_;
};

}  // namespace

bool aggregates(const ClusterRole& role) {
  return role.has_aggregation_rule();
}

rule_list aggregated_rules(const ClusterRole& role, const cluster_roles& all) {
  collector rules{all};
  rules.add_selected(role);
  return rules.take();
}

bool same_rules(const rule_list& a, const rule_list& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same_rule);
}

}  // namespace troupe::actors::access
