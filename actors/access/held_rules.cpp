#include "actors/access/held_rules.hpp"

#include <algorithm>

#include "api/codec/json_text.hpp"
#include "api/schema/meta_object.pb.h"
#include "api/scheme.hpp"

namespace troupe::actors::access {

using namespace api::rbac::v1;

namespace {

template <class Binding>
void add_bindings(held_rules& out, const persistence::snapshot& state, const identity& who,
                  std::string_view ns) {
  const auto& kind = api::kind_of<Binding>();
  state.scan(kind.prefix(ns), {}, [&](std::string_view, const api::object_ptr& found) {
    const auto& binding = found->as<Binding>();
    const bool given =
        std::any_of(binding.subjects().begin(), binding.subjects().end(),
                    [&](const Subject& subject) { return is_subject(subject, ns, who); });
    if (!given) return true;
    auto role = find_role(state, binding.role_ref(), ns);
    if (!role) {
      out.problems.push_back(describe_missing(binding.role_ref()));
      return true;
    }
    for (const auto& rule : rules_of(*role))
      out.rules.push_back(&rule);
    out.kept.push_back(std::move(role));
    return true;
  });
}

}  // namespace

bool held_rules::allow(const attempt& attempt) const {
  return std::any_of(rules.begin(), rules.end(),
                     [&](const PolicyRule* rule) { return allows(*rule, attempt); });
}

held_rules find_held_rules(const persistence::snapshot& state, const identity& who,
                           std::string_view ns) {
  held_rules out;
  add_bindings<ClusterRoleBinding>(out, state, who, {});
  if (!ns.empty()) add_bindings<RoleBinding>(out, state, who, ns);
  return out;
}

api::object_ptr find_role(const persistence::snapshot& state, const RoleRef& reference,
                          std::string_view ns) {
  if (reference.kind() == "ClusterRole")
    return state.find(api::kind_of<ClusterRole>().key({}, reference.name()));
  if (reference.kind() != "Role" || ns.empty()) return nullptr;
  return state.find(api::kind_of<Role>().key(ns, reference.name()));
}

std::string describe_missing(const RoleRef& role) {
  const auto* resource = role.kind() == "ClusterRole" ? "clusterrole" : "role";
  return std::string{resource} + ".rbac.authorization.k8s.io " + api::quoted(role.name()) +
         " not found";
}

const rule_list& rules_of(const api::object& role) {
  return &role.kind() == &api::kind_of<Role>() ? role.as<Role>().rules()
                                               : role.as<ClusterRole>().rules();
}

}  // namespace troupe::actors::access
