// The rules that somebody holds in one state of the store, found by a walk over its bindings: for
// checks of a single write, which must see the state that the write is judged by. What judges every
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
  std::vector<std::string> problems;       // bindings of roles that are not there
  std::vector<api::object_ptr> kept = {};  // what the rules belong to

  bool allow(const attempt& attempt) const;
};

// In the whole cluster and, unless it is empty, in a namespace.
held_rules find_held_rules(const persistence::snapshot& state, const identity& who,
                           std::string_view ns);

// Null where there is no such role. A Role is looked for in `ns`.
api::object_ptr find_role(const persistence::snapshot& state,
                          const api::rbac::v1::RoleRef& reference, std::string_view ns);
// Of a Role or a ClusterRole.
const rule_list& rules_of(const api::object& role);

}  // namespace troupe::actors::access
