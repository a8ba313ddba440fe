// The requests that a rule allows, the cover of rules, and the index for authorization.
#include "actors/access/rules.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "actors/access/defaults.hpp"
#include "actors/access/policies.hpp"
#include "actors/access/policy_index.hpp"
#include "actors/access/rule_table.hpp"
#include "support/seeds.hpp"

namespace troupe::test {

using actors::access::policy_index;
using actors::access::rule_list;
using actors::access::uncovered;

namespace {

// Applies the same random changes to the index and to the plain policy.
struct twins {
  policy_index index;
  plain_policy plain;

  template <class T>
  void put(std::map<std::string, T>& all, const std::string& key, const T& now) {
    const auto found = all.find(key);
    index.change(found == all.end() ? nullptr : as_object(found->second), as_object(now));
    all[key] = now;
  }
  template <class T>
  void erase(std::map<std::string, T>& all, policy_source& source) {
    if (all.empty()) return;
    const auto at = std::next(all.begin(), static_cast<long>(source.below(all.size())));
    index.change(as_object(at->second), nullptr);
    all.erase(at);
  }

  void change(policy_source& source) {
    const auto ns = source.any({"n1", "n2"});
    const auto key = [&](const auto& made) { return ns + "/" + made.metadata().name(); };
    switch (source.below(8)) {
      case 0: {
        const auto made = source.role<Role>(ns);
        return put(plain.roles, key(made), made);
      }
      case 1:
      case 2: {
        const auto made = source.role<ClusterRole>("");
        return put(plain.cluster_roles, made.metadata().name(), made);
      }
      case 3: {
        const auto made = source.binding<RoleBinding>(ns);
        return put(plain.bindings, key(made), made);
      }
      case 4: {
        const auto made = source.binding<ClusterRoleBinding>("");
        return put(plain.cluster_bindings, made.metadata().name(), made);
      }
      case 5:
        return erase(plain.bindings, source);
      case 6:
        return erase(plain.cluster_bindings, source);
      default:
        return source.below(2) == 0 ? erase(plain.roles, source)
                                    : erase(plain.cluster_roles, source);
    }
  }
};

std::string shown(const question& q) {
  std::string groups;
  for (const auto& group : q.groups)
    groups += group + " ";
  return q.user + " [" + groups + "] " + q.verb + " " +
         (q.on_resource
              ? q.group + " " + q.resource + "/" + q.subresource + " " + q.name + " in " + q.ns
              : q.path);
}

}  // namespace

TEST_CASE("after any bindings and removals, the index allows the same as a scan of all bindings",
          "[access]") {
  std::size_t allowed = 0, refused = 0;
  for_each_seed(200, [&](std::uint64_t seed) {
    policy_source source{seed};
    twins both;
    for (int round = 0; round < 30; ++round) {
      const auto index_before = both.index;  // shares nodes, and must not change
      const auto plain_before = both.plain;
      both.change(source);
      for (int i = 0; i < 20; ++i) {
        const auto q = source.ask();
        INFO(shown(q));
        const bool may = both.plain.allows(q);
        std::string reason;
        REQUIRE(both.index.allows(q.who(), q.attempt()) == may);
        REQUIRE(both.index.allows(q.who(), q.attempt(), &reason) == may);
        if (may) REQUIRE_THAT(reason, Catch::StartsWith("RBAC: allowed by "));
        REQUIRE(index_before.allows(q.who(), q.attempt()) == plain_before.allows(q));
        (may ? allowed : refused) += 1;
      }
    }
  });
  // Both results must be frequent, or the comparison proves little.
  CHECK(allowed > 1'000);
  CHECK(refused > 1'000);
}

TEST_CASE("a subject with many bindings is allowed the same as by a scan of all bindings",
          "[access]") {
  std::size_t allowed = 0, refused = 0;
  for_each_seed(30, [&](std::uint64_t seed) {
    policy_source source{seed};
    twins both;
    // More grants than are scanned linearly, of existing roles and of missing ones.
    for (std::size_t i = 0; i < 3 * actors::access::defaults::walked_grants; ++i) {
      const auto name = "crowd-" + std::to_string(i);
      auto binding = source.binding<ClusterRoleBinding>("");
      binding.mutable_metadata()->set_name(name);
      binding.mutable_role_ref()->set_name(name);
      binding.clear_subjects();
      binding.add_subjects()->set_kind("Group");
      binding.mutable_subjects(0)->set_name("ops");
      both.put(both.plain.cluster_bindings, name, binding);
      if (source.below(8) != 0) continue;
      auto role = source.role<ClusterRole>("");
      role.mutable_metadata()->set_name(name);
      both.put(both.plain.cluster_roles, name, role);
    }
    for (int round = 0; round < 20; ++round) {
      const auto index_before = both.index;
      const auto plain_before = both.plain;
      both.change(source);
      for (int i = 0; i < 20; ++i) {
        auto q = source.ask();
        q.groups = {"ops"};
        INFO(shown(q));
        const bool may = both.plain.allows(q);
        std::string reason;
        REQUIRE(both.index.allows(q.who(), q.attempt()) == may);
        REQUIRE(both.index.allows(q.who(), q.attempt(), &reason) == may);
        REQUIRE_THAT(reason, Catch::StartsWith(may ? "RBAC: allowed by " : "RBAC: ["));
        REQUIRE(index_before.allows(q.who(), q.attempt()) == plain_before.allows(q));
        (may ? allowed : refused) += 1;
      }
    }
  });
  CHECK(allowed > 1'000);
  CHECK(refused > 1'000);
}

TEST_CASE("roles beyond the size of the rule table are still evaluated", "[access]") {
  actors::access::rule_table table;
  rule_list small, large;
  auto& rule = *small.Add();
  rule.add_verbs("get");
  rule.add_api_groups("");
  rule.add_resources("pods");
  auto& wide = *large.Add();
  for (int i = 0; i < 1'000; ++i) {
    wide.add_verbs("verb" + std::to_string(i));
    wide.add_api_groups("group" + std::to_string(i));
    wide.add_resources("resource" + std::to_string(i));
  }
  table.add(1, small);
  table.add(2, large);
  table.add(3, small);
  CHECK(table.size() == 2);
  std::vector<std::uint32_t> found;
  const actors::access::attempt attempt{.verb = "get", .resource = "pods"};
  table.find(attempt, [&](std::uint32_t role) {
    found.push_back(role);
    return false;
  });
  CHECK(found == std::vector<std::uint32_t>{2, 1, 3});
}

TEST_CASE(
    "covering rules allow every request of the covered ones, and missing rules are not covered",
    "[access]") {
  for_each_seed(2'000, [](std::uint64_t seed) {
    policy_source source{seed};
    rule_list held, wanted;
    for (auto left = 1 + source.below(4); left > 0; --left)
      *held.Add() = source.rule(true);
    for (auto left = 1 + source.below(2); left > 0; --left)
      *wanted.Add() = source.rule(true);
    std::vector<const PolicyRule*> pointers;
    for (const auto& rule : held)
      pointers.push_back(&rule);
    const auto missing = uncovered(pointers, wanted);
    REQUIRE(missing.has_value());
    const auto any_allows = [](const auto& rules, const question& q) {
      return std::any_of(rules.begin(), rules.end(), [&](const PolicyRule& rule) {
        return actors::access::allows(rule, q.attempt());
      });
    };
    for (int i = 0; i < 50; ++i) {
      const auto q = source.ask();
      // A wanted right that is not held must be among the missing ones.
      if (any_allows(wanted, q) && !any_allows(held, q)) {
        INFO(shown(q));
        REQUIRE(any_allows(*missing, q));
      }
    }
    // With the missing rules added, none is missing.
    for (const auto& rule : *missing)
      pointers.push_back(&rule);
    REQUIRE(uncovered(pointers, wanted).value().empty());
  });
}

TEST_CASE("a role with more rules than the comparison limit is covered by nothing", "[access]") {
  rule_list wanted;
  auto& rule = *wanted.Add();
  rule.add_api_groups("");
  for (int i = 0; i < 200; ++i) {
    rule.add_verbs("v" + std::to_string(i));
    rule.add_resources("r" + std::to_string(i));
  }
  PolicyRule all;
  all.add_verbs("*");
  all.add_api_groups("*");
  all.add_resources("*");
  const PolicyRule* const held[] = {&all};
  static_assert(actors::access::defaults::covered_parts < 200 * 200);
  CHECK_FALSE(uncovered(held, wanted).has_value());
  rule.mutable_verbs()->DeleteSubrange(100, 100);
  CHECK(uncovered(held, wanted).value().empty());
}

TEST_CASE("reasons name the binding, the role and the subject, or the role that is not there",
          "[access]") {
  policy_index index;
  ClusterRoleBinding cluster;
  cluster.mutable_metadata()->set_name("b");
  cluster.mutable_role_ref()->set_kind("ClusterRole");
  cluster.mutable_role_ref()->set_name("r");
  cluster.add_subjects()->set_kind("User");
  cluster.mutable_subjects(0)->set_name("z");
  index.change(nullptr, as_object(cluster));
  RoleBinding binding;
  binding.mutable_metadata()->set_name("c");
  binding.mutable_metadata()->set_namespace_("n1");
  *binding.mutable_role_ref() = cluster.role_ref();
  binding.add_subjects()->set_kind("ServiceAccount");
  binding.mutable_subjects(0)->set_name("robot");
  index.change(nullptr, as_object(binding));

  question q{.user = "z", .verb = "get", .resource = "pods", .ns = "n1"};
  std::string reason;
  CHECK_FALSE(index.allows(q.who(), q.attempt(), &reason));
  CHECK(reason == R"(RBAC: clusterrole.rbac.authorization.k8s.io "r" not found)");

  ClusterRole role;
  role.mutable_metadata()->set_name("r");
  auto& rule = *role.add_rules();
  rule.add_verbs("get");
  rule.add_api_groups("");
  rule.add_resources("pods");
  index.change(nullptr, as_object(role));
  CHECK(index.allows(q.who(), q.attempt(), &reason));
  CHECK(reason == R"(RBAC: allowed by ClusterRoleBinding "b" of ClusterRole "r" to User "z")");
  q.user = "system:serviceaccount:n1:robot";
  CHECK(index.allows(q.who(), q.attempt(), &reason));
  CHECK(reason == R"(RBAC: allowed by RoleBinding "c/n1" of ClusterRole "r" to ServiceAccount )"
                  R"("robot/n1")");
  q.ns = "n2";
  CHECK_FALSE(index.allows(q.who(), q.attempt()));
}

}  // namespace troupe::test
