// What judging a request costs: actors_test "[.bench][access]".
#include <spdlog/fmt/fmt.h>

#include <catch2/catch.hpp>
#include <chrono>

#include "actors/access/policies.hpp"
#include "actors/access/policy.hpp"

namespace troupe::test {

using actors::access::policy_index;

namespace {

constexpr int roles = 500;
constexpr int bindings = 2'000;
constexpr int questions = 200'000;

ClusterRole typical_role(int i) {
  ClusterRole role;
  role.mutable_metadata()->set_name(fmt::format("role-{}", i));
  for (int r = 0; r < 8; ++r) {
    auto& rule = *role.add_rules();
    for (const char* verb : {"get", "list", "watch", "update"})
      rule.add_verbs(verb);
    rule.add_api_groups(r % 2 == 0 ? "" : "apps");
    for (int k = 0; k < 6; ++k)
      rule.add_resources(fmt::format("things{}{}", (i + r) % 40, k));
  }
  return role;
}

ClusterRoleBinding bound(int i, const std::string& kind, const std::string& name) {
  ClusterRoleBinding binding;
  binding.mutable_metadata()->set_name(fmt::format("binding-{}", i));
  binding.mutable_role_ref()->set_kind("ClusterRole");
  binding.mutable_role_ref()->set_name(fmt::format("role-{}", i % roles));
  binding.add_subjects()->set_kind(kind);
  binding.mutable_subjects(0)->set_name(name);
  return binding;
}

void measure(const char* title, const policy_index& index, const question& q) {
  const auto start = std::chrono::steady_clock::now();
  int allowed = 0;
  for (int i = 0; i < questions; ++i)
    allowed += index.allows(q.who(), q.attempt()) ? 1 : 0;
  const auto took = std::chrono::steady_clock::now() - start;
  const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(took).count() / questions;
  WARN(fmt::format("{}: {} ns, {}", title, ns, allowed != 0 ? "allowed" : "refused"));
}

}  // namespace

TEST_CASE("judging with 2,000 bindings and 500 roles", "[.bench][access]") {
  policy_index index;
  for (int i = 0; i < roles; ++i)
    index.change(nullptr, as_object(typical_role(i)));
  for (int i = 0; i < bindings; ++i)
    index.change(nullptr, as_object(i < 1'960 ? bound(i, "User", fmt::format("user-{}", i))
                                              : bound(i, "Group", fmt::format("team-{}", i % 4))));
  question q{.user = "user-7", .groups = {"system:authenticated"}, .verb = "get"};
  q.resource = "things70";
  measure("a user of one binding", index, q);
  q.resource = "secrets";
  measure("the same, refused", index, q);
  q.groups = {"team-0", "team-1", "team-2", "team-3", "system:authenticated"};
  q.ns = "default";
  measure("a user in four groups of ten bindings each, refused", index, q);

  policy_index crowded;
  for (int i = 0; i < roles; ++i)
    crowded.change(nullptr, as_object(typical_role(i)));
  for (int i = 0; i < bindings; ++i)
    crowded.change(nullptr, as_object(bound(i, "Group", "everybody")));
  q.groups = {"everybody"};
  measure("all 2,000 bindings of one group, refused", crowded, q);

  const auto start = std::chrono::steady_clock::now();
  constexpr int changes = 1'000;
  for (int i = 0; i < changes; ++i) {
    auto copy = index;
    copy.change(as_object(bound(i, "User", fmt::format("user-{}", i))), nullptr);
    index = std::move(copy);
  }
  const auto took = std::chrono::steady_clock::now() - start;
  WARN(fmt::format("a change of a binding: {} ns",
                   std::chrono::duration_cast<std::chrono::nanoseconds>(took).count() / changes));
}

}  // namespace troupe::test
