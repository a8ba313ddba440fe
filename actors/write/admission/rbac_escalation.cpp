// Prevents privilege escalation: the author of a role needs every rule of it, or the verb
// "escalate" on the role; the author of a binding needs every rule of its role, or the verb "bind"
// on it: 403. An aggregationRule requires all permissions. Masters and controllers are exempt.
//
// kubernetes: pkg/registry/rbac/{escalation_check.go,*/policybased/storage.go}. Upstream checks in
// the storage of these kinds; here every write passes admission.
#include <set>

#include "actors/access/held_rules.hpp"
#include "actors/write/admission/plugins.hpp"
#include "api/codec/json_text.hpp"
#include "api/equality.hpp"
#include "api/kinds/rbac.hpp"
#include "api/object/object.hpp"
#include "api/schema/meta_object.pb.h"
#include "api/schema/rbac_v1.pb.h"
#include "api/scheme.hpp"

namespace troupe::actors::admission {
namespace {

using namespace api::rbac::v1;
using access::held_rules;
using access::identity;
using access::rule_list;

identity identity_of(const user& by) {
  return {by.name, by.groups};
}

template <class T>
const T* as(const attributes& of, const api::body* content) {
  if (content == nullptr || &of.kind != &api::kind_of<T>()) return nullptr;
  return static_cast<const T*>(content);
}

// The garbage collector makes such changes to roles and bindings.
bool changes_only_ownership(const attributes& of) {
  if (of.before == nullptr) return false;
  const std::unique_ptr<api::body> rest{of.now->New()};
  rest->CopyFrom(*of.now);
  auto& meta = api::meta_of(*rest);
  const auto& was = api::meta_of(*of.before);
  *meta.mutable_owner_references() = was.owner_references();
  *meta.mutable_finalizers() = was.finalizers();
  *meta.mutable_managed_fields() = was.managed_fields();
  meta.set_resource_version(was.resource_version());
  return api::same_meaning(*rest, *of.before);
}

std::string groups_of(const user& by) {
  std::string out = "[";
  for (const auto& group : by.groups)
    out += (out.size() > 1 ? " " : "") + api::quoted(group);
  return out + "]";
}

std::string missing_text(const user& by, const std::vector<access::PolicyRule>& missing,
                         const held_rules& held) {
  std::set<std::string> lines;
  for (const auto& rule : missing)
    lines.insert(access::to_text(rule));
  std::string out = "user " + api::quoted(by.name) + " (groups=" + groups_of(by) +
                    ") is attempting to grant RBAC permissions not currently held:";
  for (const auto& line : lines)
    out += "\n" + line;
  if (held.problems.empty()) return out;
  out += "; resolution errors: [";
  for (std::size_t i = 0; i < held.problems.size(); ++i)
    out += (i > 0 ? " " : "") + held.problems[i];
  return out + "]";
}

verdict check_held(const attributes& of, const held_rules& held, const rule_list& wanted) {
  const auto missing = access::uncovered(held.rules, wanted);
  if (!missing)
    return api::fail(forbidden(
        of, "it has too many rules to compare with those of user " + api::quoted(of.by.name)));
  if (missing->empty()) return {};
  return api::fail(forbidden(of, missing_text(of.by, *missing, held)));
}

// All permissions: those that an aggregationRule may grant.
const rule_list& everything() {
  static const auto& all = *[] {
    auto* made = new rule_list;
    auto& resources = *made->Add();
    resources.add_verbs("*");
    resources.add_api_groups("*");
    resources.add_resources("*");
    auto& paths = *made->Add();
    paths.add_verbs("*");
    paths.add_non_resource_ur_ls("*");
    return made;
  }();
  return all;
}

bool aggregates(const ClusterRole* role) {
  return role != nullptr && role->aggregation_rule().cluster_role_selectors_size() > 0;
}

class rbac_escalation final : public plugin {
 public:
  std::string_view name() const noexcept override { return "RBACEscalation"; }

  bool handles(const api::kind_info& kind, operation op) const override {
    if (op != operation::create && op != operation::update) return false;
    return &kind == &api::kind_of<Role>() || &kind == &api::kind_of<ClusterRole>() ||
           &kind == &api::kind_of<RoleBinding>() || &kind == &api::kind_of<ClusterRoleBinding>();
  }

  verdict validate(const attributes& of) const override {
    // Our own controllers: compared by address, because a client may have any name.
    if (&of.by == &controllers() || identity_of(of.by).in_group(access::masters_group)) return {};
    if (changes_only_ownership(of)) return {};
    const auto held = access::find_held_rules(of.state, identity_of(of.by), of.ns());
    if (const auto* role = as<Role>(of, of.now)) return check_role(of, held, role->rules());
    if (const auto* role = as<ClusterRole>(of, of.now)) return check_cluster_role(of, held, *role);
    if (const auto* binding = as<RoleBinding>(of, of.now))
      return check_binding(of, held, binding->role_ref());
    return check_binding(of, held, as<ClusterRoleBinding>(of, of.now)->role_ref());
  }

 private:
  // A create is checked without a name, as upstream.
  static bool may_escalate(const attributes& of, const held_rules& held) {
    return held.allow({.verb = "escalate",
                       .group = of.kind.group(),
                       .resource = of.kind.plural(),
                       .name = of.op == operation::create ? std::string_view{} : of.name(),
                       .ns = of.ns()});
  }

  static verdict check_role(const attributes& of, const held_rules& held, const rule_list& rules) {
    if (may_escalate(of, held)) return {};
    return check_held(of, held, rules);
  }

  static verdict check_cluster_role(const attributes& of, const held_rules& held,
                                    const ClusterRole& role) {
    if (may_escalate(of, held)) return {};
    if (auto fine = check_held(of, held, role.rules()); !fine) return fine;
    if (!aggregates(&role) && !aggregates(as<ClusterRole>(of, of.before))) return {};
    const auto missing = access::uncovered(held.rules, everything());
    if (missing && missing->empty()) return {};
    return api::fail(
        forbidden(of, "must have cluster-admin privileges to use the aggregationRule"));
  }

  static verdict check_binding(const attributes& of, const held_rules& held,
                               const RoleRef& reference) {
    const bool clustered = reference.kind() == "ClusterRole";
    if (held.allow({.verb = "bind",
                    .group = reference.api_group(),
                    .resource = clustered ? "clusterroles" : "roles",
                    .name = reference.name(),
                    .ns = of.ns()}))
      return {};
    const auto role = access::find_role(of.state, reference, of.ns());
    if (!role)
      return api::fail(api::not_found(
          clustered ? api::kind_of<ClusterRole>() : api::kind_of<Role>(), reference.name()));
    return check_held(of, held, access::rules_of(*role));
  }
};

}  // namespace

plugin_ptr make_rbac_escalation() {
  return std::make_shared<rbac_escalation>();
}

}  // namespace troupe::actors::admission
