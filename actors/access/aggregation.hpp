// The rules of a ClusterRole with an aggregationRule: those of the cluster roles that it selects.
// Pure. kubernetes: pkg/controller/clusterroleaggregation.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "actors/access/rules.hpp"
#include "api/object/object.hpp"

namespace troupe::actors::access {

// By name, in the order of names.
using cluster_roles = std::map<std::string, api::object_ptr, std::less<>>;

// False: its rules are its own.
bool aggregates(const api::rbac::v1::ClusterRole& role);

// Selector after selector, role after role; a rule that is there already is left out. A selector
// that makes no sense selects nothing.
rule_list aggregated_rules(const api::rbac::v1::ClusterRole& role, const cluster_roles& all);

bool same_rules(const rule_list& a, const rule_list& b);

}  // namespace troupe::actors::access
