// The default roles and bindings of a cluster as data (default_policy_text.cpp), and their
// reconciliation with the store. Pure functions.
//
// Each line declares one object, indented lines are the rules of a role, # starts a comment:
//
//   cluster NAME [>LABEL...]          a ClusterRole; the roles that select LABEL aggregate its
//                                     rules (aggregate-to-LABEL)
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

// Parses all objects, with label and annotation, without uid. The text is part of the program: an
// error in it aborts the process.
std::vector<std::unique_ptr<api::body>> read_policy(std::string_view text);

// Adds to `into` what the store lacks: missing objects, and the default's rules and subjects that
// existing objects lack. Additional rules and subjects stay. An object with the annotation
// rbac.authorization.kubernetes.io/autoupdate: "false", and a binding to another role, are not
// changed.
void reconcile_policy(const persistence::snapshot& state, runtime::wall_time now,
                      std::mt19937_64& random, persistence::transaction& into);

}  // namespace troupe::actors::access
