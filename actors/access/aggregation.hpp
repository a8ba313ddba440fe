// The rules of a ClusterRole with an aggregationRule: the union of the ClusterRoles it selects.
// Pure functions. kubernetes: pkg/controller/clusterroleaggregation.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "actors/access/rules.hpp"
#include "api/object/object.hpp"

namespace troupe::actors::access {

// ClusterRoles by name, sorted.
using cluster_roles = std::map<std::string, api::object_ptr, std::less<>>;

// True if the role has an aggregationRule; otherwise its rules are its own.
bool aggregates(const api::rbac::v1::ClusterRole& role);

// In the order of selectors, then of roles, without duplicate rules; a selected role that itself
// aggregates counts with the rules of the roles that it selects. So the result depends on no
// aggregated rules, and roles that select each other cannot rewrite each other for ever. An invalid
// selector selects nothing.
class aggregation {
 public:
  // `all` must outlive it and stay as it is.
  explicit aggregation(const cluster_roles& all) : all_{all} {}

  rule_list rules_of(const api::rbac::v1::ClusterRole& role);

 private:
  using roles = std::vector<const api::rbac::v1::ClusterRole*>;

  const roles& selected_by(const api::rbac::v1::ClusterRole& role);

  const cluster_roles& all_;
  // What each aggregated role selects: many others may lead to it.
  std::map<const api::rbac::v1::ClusterRole*, roles> selected_;
  std::size_t kept_ = 0;  // in selected_
};

// For one role alone.
rule_list aggregated_rules(const api::rbac::v1::ClusterRole& role, const cluster_roles& all);

bool same_rules(const rule_list& a, const rule_list& b);

}  // namespace troupe::actors::access
