// The roles and bindings that every cluster has, as data (default_policy_text.cpp), and how a store
// is brought to have them. Pure.
//
// A line of the text begins one object, indented lines are the rules of a role, # begins a comment:
//
//   cluster NAME [>LABEL...]          a ClusterRole; rules labelled so are taken over by the roles
//                                     that select LABEL (aggregate-to-LABEL)
//   aggregate NAME SELECTS [>LABEL]   a ClusterRole with the rules of those labelled SELECTS
//   controller NAME                   the ClusterRole system:controller:NAME, bound to the service
//                                     account NAME of kube-system
//   bind NAME SUBJECT...              the ClusterRoleBinding NAME of the ClusterRole NAME
//   role NAMESPACE NAME               a Role
//   grant NAMESPACE NAME ROLE SUBJECT...   a RoleBinding of a Role
//     VERBS GROUPS RESOURCES [NAMES]  a rule; lists have commas, "core" is the group ""
//     VERBS PATHS                     a rule on paths
//     events                          a rule to write events
//
// A subject is user:NAME, group:NAME or account:NAMESPACE/NAME.
//
// kubernetes: plugin/pkg/auth/authorizer/rbac/bootstrappolicy,
// component-helpers/auth/rbac/reconciliation.
#pragma once

#include <memory>
#include <random>
#include <string_view>
#include <vector>

#include "api/object/object.hpp"
#include "persistence/transaction.hpp"
#include "persistence/tree/snapshot.hpp"
#include "runtime/clock.hpp"

namespace troupe::actors::access {

// All of them, with label and annotation, without uid. The text is ours: what is wrong in it ends
// the program.
std::vector<std::unique_ptr<api::body>> read_policy(std::string_view text);

// Adds to `into` what a store lacks: objects that are not there, and of those that are the rules
// and subjects of the default. What a cluster has beyond stays. An object whose annotation
// rbac.authorization.kubernetes.io/autoupdate is "false", and a binding of another role, are left
// alone.
void reconcile_policy(const persistence::snapshot& state, runtime::wall_time now,
                      std::mt19937_64& random, persistence::transaction& into);

}  // namespace troupe::actors::access
