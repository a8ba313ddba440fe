// The kinds of rbac.authorization.k8s.io: defaults, validation, tables.
#include <catch2/catch.hpp>

#include "api/manifests.hpp"
#include "api/schema/rbac_v1.pb.h"
#include "api/tables/table.hpp"
#include "api/validation/validation.hpp"

using namespace troupe;
using namespace troupe::api;
using namespace troupe::api::rbac::v1;
using test::created;

namespace {

using lines = std::vector<std::string>;

lines told(const std::vector<error_cause>& causes) {
  lines made;
  for (const auto& cause : causes)
    made.push_back(cause.field + ": " + cause.message);
  return made;
}

template <class T>
lines faults(const std::string& rest, const std::string& name = "a") {
  const auto kind = T::descriptor()->name();
  const auto object = created<T>("{apiVersion: rbac.authorization.k8s.io/v1, kind: " + kind +
                                 ", metadata: {name: \"" + name + "\"}, " + rest + "}");
  return told(validate_create(kind_of<T>(), object));
}

template <class T>
T binding(const std::string& rest) {
  return created<T>("{apiVersion: rbac.authorization.k8s.io/v1, kind: " + T::descriptor()->name() +
                    ", metadata: {name: a}, " + rest + "}");
}

const std::string good_rule = "rules: [{verbs: [get], apiGroups: [\"\"], resources: [pods]}]";
const std::string view = "roleRef: {kind: ClusterRole, name: view}";

}  // namespace

TEST_CASE("names of roles may have colons, but nothing that a path cannot hold") {
  CHECK(faults<ClusterRole>(good_rule, "system:controller:x").empty());
  CHECK(faults<Role>(good_rule, "Team A").empty());
  CHECK(faults<Role>(good_rule, "a/b") ==
        lines{R"(metadata.name: Invalid value: "a/b": may not contain '/')"});
  CHECK(faults<ClusterRole>(good_rule, "..") ==
        lines{R"(metadata.name: Invalid value: "..": may not be '..')"});
}

TEST_CASE("a rule is about resources or about paths, and in a namespace about resources") {
  CHECK(faults<Role>("rules: [{}]") ==
        lines{"rules[0].verbs: Required value: verbs must contain at least one value",
              "rules[0].apiGroups: Required value: resource rules must supply at least one api "
              "group",
              "rules[0].resources: Required value: resource rules must supply at least one "
              "resource"});
  CHECK(faults<ClusterRole>("rules: [{verbs: [get], nonResourceURLs: [/x]}]").empty());
  CHECK(faults<Role>("rules: [{verbs: [get], nonResourceURLs: [/x]}]") ==
        lines{R"(rules[0].nonResourceURLs: Invalid value: ["/x"]: namespaced rules cannot apply )"
              "to non-resource URLs"});
  CHECK(faults<ClusterRole>("rules: [{verbs: [get], nonResourceURLs: [/x], resources: [pods]}]") ==
        lines{R"(rules[0].nonResourceURLs: Invalid value: ["/x"]: rules cannot apply to both )"
              "regular resources and non-resource URLs"});
  CHECK(faults<ClusterRole>("aggregationRule: {}") ==
        lines{"aggregationRule.clusterRoleSelectors: Required value: at least one "
              "clusterRoleSelector required if aggregationRule is non-nil"});
}

TEST_CASE("a binding names its role and its subjects in full") {
  const auto made =
      binding<RoleBinding>(view +
                           ", subjects: [{kind: User, name: jane}, {kind: ServiceAccount, "
                           "name: robot}]");
  CHECK(made.role_ref().api_group() == "rbac.authorization.k8s.io");
  CHECK(made.subjects(0).api_group() == "rbac.authorization.k8s.io");
  CHECK(made.subjects(1).api_group().empty());
  CHECK(faults<RoleBinding>(view + ", subjects: [{kind: ServiceAccount, name: robot}]").empty());
  CHECK(faults<ClusterRoleBinding>(view + ", subjects: [{kind: ServiceAccount, name: robot}]") ==
        lines{"subjects[0].namespace: Required value"});
  CHECK(faults<ClusterRoleBinding>("roleRef: {kind: Role, name: x}") ==
        lines{R"(roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole")"});
  CHECK(faults<RoleBinding>("roleRef: {kind: Pod, name: x}") ==
        lines{R"(roleRef.kind: Unsupported value: "Pod": supported values: "Role", )"
              R"("ClusterRole")"});
  CHECK(faults<RoleBinding>(view + ", subjects: [{kind: Robot, name: x}, {kind: User}]") ==
        lines{R"(subjects[0].kind: Unsupported value: "Robot": supported values: )"
              R"("ServiceAccount", "User", "Group")",
              "subjects[1].name: Required value"});
  CHECK(faults<RoleBinding>("subjects: []") ==
        lines{R"(roleRef.kind: Unsupported value: "": supported values: "Role", "ClusterRole")",
              "roleRef.name: Required value"});
}

TEST_CASE("the role of a binding never changes") {
  const auto was = binding<ClusterRoleBinding>(view);
  auto now = was;
  now.add_subjects()->set_kind("User");
  now.mutable_subjects(0)->set_name("jane");
  now.mutable_subjects(0)->set_api_group("rbac.authorization.k8s.io");
  CHECK(validate_update(kind_of<ClusterRoleBinding>(), now, was).empty());
  now.mutable_role_ref()->set_name("edit");
  CHECK(told(validate_update(kind_of<ClusterRoleBinding>(), now, was)) ==
        lines{R"(roleRef: Invalid value: {"apiGroup":"rbac.authorization.k8s.io",)"
              R"("kind":"ClusterRole","name":"edit"}: cannot change roleRef)"});
}
