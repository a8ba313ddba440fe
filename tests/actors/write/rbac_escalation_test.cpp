// Users cannot grant more than they have.
#include <catch2/catch.hpp>

#include "actors/access/policies.hpp"
#include "actors/write/admission_fixture.hpp"
#include "actors/write/pipeline.hpp"

namespace troupe::test {

using actors::admission::operation;
namespace admission = actors::admission;

namespace {

PolicyRule may(const std::vector<std::string>& verbs, const std::string& group,
               const std::string& resource, const std::string& name = {}) {
  PolicyRule rule;
  for (const auto& verb : verbs)
    rule.add_verbs(verb);
  rule.add_api_groups(group);
  rule.add_resources(resource);
  if (!name.empty()) rule.add_resource_names(name);
  return rule;
}

const std::string rbac = "rbac.authorization.k8s.io";

Role role(const std::string& name, const std::vector<PolicyRule>& rules) {
  Role made;
  made.mutable_metadata()->set_name(name);
  made.mutable_metadata()->set_namespace_("default");
  for (const auto& rule : rules)
    *made.add_rules() = rule;
  return made;
}

ClusterRole cluster_role(const std::string& name, const std::vector<PolicyRule>& rules) {
  ClusterRole made;
  made.mutable_metadata()->set_name(name);
  for (const auto& rule : rules)
    *made.add_rules() = rule;
  return made;
}

template <class Binding>
Binding bind(const std::string& name, const std::string& kind, const std::string& to,
             const std::string& user = "joe") {
  Binding made;
  made.mutable_metadata()->set_name(name);
  if constexpr (std::is_same_v<Binding, RoleBinding>)
    made.mutable_metadata()->set_namespace_("default");
  made.mutable_role_ref()->set_api_group(rbac);
  made.mutable_role_ref()->set_kind(kind);
  made.mutable_role_ref()->set_name(to);
  auto& subject = *made.add_subjects();
  subject.set_kind("User");
  subject.set_api_group(rbac);
  subject.set_name(user);
  return made;
}

// joe may read and write pods in "default", and has the rights that a test grants.
struct stage {
  stage() {
    c.create(role("pods", {may({"get", "create"}, "", "pods")}));
    c.create(bind<RoleBinding>("pods", "Role", "pods"));
  }
  void give(const PolicyRule& rule) {
    c.create(cluster_role("given", {rule}));
    c.create(bind<ClusterRoleBinding>("given", "ClusterRole", "given"));
  }

  template <class T>
  std::string evaluate(const T* before, const T* now, std::string user = "joe",
                       std::vector<std::string> groups = {"dev"}) {
    const auto plugin = admission::make_rbac_escalation();
    const admission::user by{user, {}, groups};
    const auto state = c.store().read();
    const auto op = before == nullptr ? operation::create : operation::update;
    REQUIRE(plugin->handles(api::kind_of<T>(), op));
    const auto result = plugin->validate({.state = state,
                                          .kind = api::kind_of<T>(),
                                          .op = op,
                                          .subresource = {},
                                          .by = by,
                                          .before = before,
                                          .now = now});
    if (result) return "fine";
    return std::to_string(result.error().code) + " " + result.error().message;
  }
  template <class T>
  std::string create(const T& now) {
    return evaluate<T>(nullptr, &now);
  }

  cluster c{1, without_controllers()};
};

}  // namespace

TEST_CASE("a role needs every rule of it, in upstream's words", "[access]") {
  stage s;
  CHECK(s.create(role("a", {may({"get"}, "", "pods")})) == "fine");
  CHECK(s.create(role("a", {may({"get"}, "", "pods", "one")})) == "fine");
  CHECK(
      s.create(role("a", {may({"get", "list", "delete"}, "", "pods")})) ==
      "403 roles.rbac.authorization.k8s.io \"a\" is forbidden: user \"joe\" (groups=[\"dev\"]) is "
      "attempting to grant RBAC permissions not currently held:\n"
      "{APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"list\" \"delete\"]}");
  CHECK_THAT(s.create(role("a", {may({"*"}, "*", "*")})), Catch::StartsWith("403 "));
  // Rights of joe in the namespace do not count for the whole cluster.
  CHECK_THAT(s.create(cluster_role("a", {may({"get"}, "", "pods")})), Catch::StartsWith("403 "));
  const auto all = role("a", {may({"*"}, "*", "*")});
  CHECK(s.evaluate<Role>(nullptr, &all, "root", {"system:masters"}) == "fine");
}

TEST_CASE("the verb escalate allows any role, of its name where it names one", "[access]") {
  stage s;
  const auto wanted = role("a", {may({"*"}, "*", "*")});
  const auto was = role("a", {});
  s.give(may({"escalate"}, rbac, "roles", "a"));
  CHECK_THAT(s.create(wanted), Catch::StartsWith("403 "));
  CHECK(s.evaluate(&was, &wanted) == "fine");
  const auto other_was = role("b", {});
  const auto other = role("b", {may({"*"}, "*", "*")});
  CHECK_THAT(s.evaluate(&other_was, &other), Catch::StartsWith("403 "));
}

TEST_CASE("any change of a role is checked against all its rules, except a change of owners",
          "[access]") {
  stage s;
  const auto was = cluster_role("strong", {may({"*"}, "*", "*")});
  auto now = was;
  (*now.mutable_metadata()->mutable_labels())["rbac.authorization.k8s.io/aggregate-to-view"] =
      "true";
  CHECK_THAT(s.evaluate(&was, &now), Catch::StartsWith("403 "));
  auto owned = was;
  owned.mutable_metadata()->add_finalizers("example.com/hold");
  CHECK(s.evaluate(&was, &owned) == "fine");
}

TEST_CASE("an aggregation rule takes everything, or the verb escalate", "[access]") {
  stage s;
  auto now = cluster_role("sum", {});
  now.mutable_aggregation_rule()->add_cluster_role_selectors();
  const std::string refused =
      "403 clusterroles.rbac.authorization.k8s.io \"sum\" is forbidden: must have cluster-admin "
      "privileges to use the aggregationRule";
  CHECK(s.create(now) == refused);
  const auto without = cluster_role("sum", {});
  CHECK(s.evaluate(&now, &without) == refused);
  CHECK(s.evaluate(&without, &now) == refused);
  s.give(may({"*"}, "*", "*"));  // escalate is among these verbs
  CHECK(s.create(now) == "fine");
}

TEST_CASE("a binding needs every rule of its role, or the verb bind of it", "[access]") {
  stage s;
  s.c.create(cluster_role("view-pods", {may({"get"}, "", "pods")}));
  s.c.create(cluster_role("secrets", {may({"get"}, "", "secrets")}));
  CHECK(s.create(bind<RoleBinding>("b", "ClusterRole", "view-pods")) == "fine");
  CHECK(s.create(bind<RoleBinding>("b", "Role", "pods")) == "fine");
  CHECK_THAT(s.create(bind<ClusterRoleBinding>("b", "ClusterRole", "view-pods")),
             Catch::StartsWith("403 "));
  const auto wanted = bind<RoleBinding>("b", "ClusterRole", "secrets", "somebody else");
  CHECK(s.create(wanted) ==
        "403 rolebindings.rbac.authorization.k8s.io \"b\" is forbidden: user \"joe\" "
        "(groups=[\"dev\"]) is attempting to grant RBAC permissions not currently held:\n"
        "{APIGroups:[\"\"], Resources:[\"secrets\"], Verbs:[\"get\"]}");
  CHECK(s.create(bind<RoleBinding>("b", "ClusterRole", "none")) ==
        "404 clusterroles.rbac.authorization.k8s.io \"none\" not found");
  s.give(may({"bind"}, rbac, "clusterroles", "secrets"));
  CHECK(s.create(wanted) == "fine");
  s.c.create(cluster_role("nodes", {may({"get"}, "", "nodes")}));
  CHECK_THAT(s.create(bind<RoleBinding>("b", "ClusterRole", "nodes")), Catch::StartsWith("403 "));
}

TEST_CASE("a subject cannot be added to a binding of a role that the user does not have",
          "[access]") {
  stage s;
  s.c.create(cluster_role("secrets", {may({"get"}, "", "secrets")}));
  const auto was = bind<RoleBinding>("b", "ClusterRole", "secrets", "boss");
  auto now = was;
  *now.add_subjects() = bind<RoleBinding>("b", "ClusterRole", "secrets").subjects(0);
  CHECK_THAT(s.evaluate(&was, &now), Catch::StartsWith("403 "));
}

}  // namespace troupe::test
