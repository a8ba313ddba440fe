// The rules that a user holds in one state of the store, found by a walk over the bindings: for
// checks of a single write, which must use the state of that write. The authorization of each
// request uses policy_index.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "actors/access/rules.hpp"
#include "api/object/object.hpp"
#include "persistence/tree/snapshot.hpp"

namespace troupe::actors::access {

struct held_rules {
  std::vector<const PolicyRule*> rules;
  std::vector<std::string> problems;       // bindings of missing roles
  std::vector<api::object_ptr> kept = {};  // the objects that own the rules

  bool allow(const attempt& attempt) const;
};

// Finds the rules in the whole cluster and, unless `ns` is empty, in the namespace.
held_rules find_held_rules(const persistence::snapshot& state, const identity& who,
                           std::string_view ns);

// Returns null if there is no such role. A Role is looked up in `ns`.
api::object_ptr find_role(const persistence::snapshot& state,
                          const api::rbac::v1::RoleRef& reference, std::string_view ns);
std::string describe_missing(const api::rbac::v1::RoleRef& role);
// The rules of a Role or a ClusterRole.
const rule_list& rules_of(const api::object& role);

}  // namespace troupe::actors::access
