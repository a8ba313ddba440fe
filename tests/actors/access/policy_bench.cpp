// The cost of authorizing a request: actors_test "[.bench][access]".
#include <spdlog/fmt/fmt.h>

#include <catch2/catch.hpp>
#include <chrono>

#include "actors/access/node_graph.hpp"
#include "actors/access/policies.hpp"
#include "actors/access/policy.hpp"
#include "api/schema/core_config.pb.h"
#include "api/schema/core_pod.pb.h"

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
  q.resource = "things70";
  q.verb = "delete";
  measure("the same, a resource of many roles with another verb", crowded, q);
  q.verb = "get";
  measure("the same, allowed", crowded, q);
  const auto since = std::chrono::steady_clock::now();
  crowded.change(nullptr, as_object(typical_role(roles)));
  crowded.allows(q.who(), q.attempt());
  WARN(fmt::format("the first request after a change of a role: {} us",
                   std::chrono::duration_cast<std::chrono::microseconds>(
                       std::chrono::steady_clock::now() - since)
                       .count()));

  policy_index named;
  for (int i = 0; i < roles; ++i) {
    auto role = typical_role(i);
    for (auto& rule : *role.mutable_rules())
      rule.add_resource_names(fmt::format("name-{}", i));
    named.change(nullptr, as_object(role));
  }
  for (int i = 0; i < bindings; ++i)
    named.change(nullptr, as_object(bound(i, "Group", "everybody")));
  q.name = "other";
  measure("2,000 bindings of one group, each role for one name, refused", named, q);

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

TEST_CASE("the index of objects used by 10,000 pods on 200 nodes", "[.bench][access]") {
  constexpr int pods = 10'000;
  std::vector<persistence::change> binds(pods);
  for (int i = 0; i < pods; ++i) {
    api::core::v1::Pod pod;
    pod.mutable_metadata()->set_name(fmt::format("web-{}", i));
    pod.mutable_metadata()->set_namespace_("default");
    auto& spec = *pod.mutable_spec();
    spec.set_service_account_name("default");
    spec.add_volumes()->mutable_volume_source()->mutable_secret()->set_secret_name(
        fmt::format("secret-{}", i % 50));
    auto& sources = *spec.add_volumes()->mutable_volume_source()->mutable_projected();
    sources.add_sources()->mutable_service_account_token()->set_path("token");
    sources.add_sources()->mutable_config_map()->mutable_local_object_reference()->set_name(
        "kube-root-ca.crt");
    binds[static_cast<std::size_t>(i)].previous = as_object(pod);
    spec.set_node_name(fmt::format("node-{}", i % 200));
    binds[static_cast<std::size_t>(i)].object = as_object(pod);
    binds[static_cast<std::size_t>(i)].type = persistence::change_type::updated;
  }
  actors::access::node_graph graph;
  const auto ns_each = [](auto since, int count) {
    const auto took = std::chrono::steady_clock::now() - since;
    return std::chrono::duration_cast<std::chrono::nanoseconds>(took).count() / count;
  };
  auto since = std::chrono::steady_clock::now();
  graph.take(binds);
  WARN(fmt::format("a bind: {} ns, {} pairs kept", ns_each(since, pods), graph.size()));
  for (auto& each : binds)
    each.previous = each.object;
  since = std::chrono::steady_clock::now();
  graph.take(binds);
  WARN(fmt::format("another change of a pod: {} ns", ns_each(since, pods)));
  const auto key = api::kind_of<api::core::v1::Secret>().key("default", "secret-7");
  int used = 0;
  since = std::chrono::steady_clock::now();
  for (int i = 0; i < questions; ++i)
    used += graph.uses("node-7", key) ? 1 : 0;
  WARN(fmt::format("a look-up: {} ns, {}", ns_each(since, questions),
                   used == questions ? "used" : "wrong"));
}

}  // namespace troupe::test
