// The default roles and bindings, how a store gets them, and aggregated roles.
#include "actors/access/default_policy.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <set>

#include "actors/access/aggregation.hpp"
#include "actors/access/default_policy_text.hpp"
#include "actors/access/policies.hpp"
#include "actors/access/policy.hpp"
#include "api/validation/validation.hpp"
#include "support/cluster.hpp"

namespace troupe::test {

using actors::access::default_policy_text;
using actors::access::read_policy;
using std::chrono::seconds;

namespace {

// Writes the objects that the store lacks; returns how many were written.
std::size_t reconcile(cluster& c) {
  std::mt19937_64 random{1};
  persistence::transaction lacking;
  actors::access::reconcile_policy(c.store().read(), c.now(), random, lacking);
  const auto count = lacking.mutations.size();
  bool done = false;
  c.plane().commit(std::move(lacking), 1, [&](const persistence::outcome& result) {
    REQUIRE(result.has_value());
    done = true;
  });
  REQUIRE(c.run_until([&] { return done; }));
  return count;
}

bool may(cluster& c, question q) {
  return c.plane().policy()->now()->allows(q.who(), q.attempt());
}

question viewer(const std::string& verb, const std::string& resource, const std::string& ns) {
  return {.user = "jane", .verb = verb, .resource = resource, .ns = ns};
}

}  // namespace

TEST_CASE("every object of the default policy is valid and there once", "[access]") {
  const auto all = read_policy(default_policy_text);
  CHECK(all.size() > 120);
  std::set<std::string> keys;
  for (const auto& each : all) {
    const auto& kind = api::kind_of_type(*each->GetDescriptor());
    const auto& meta = api::meta_of(*each);
    INFO(kind.kind() << " " << meta.name());
    CHECK(keys.insert(kind.key(meta.namespace_(), meta.name())).second);
    CHECK(api::validate_create(kind, *each).empty());
  }
  // A binding of a missing role grants nothing.
  for (const auto& each : all) {
    if (each->GetDescriptor() == ClusterRoleBinding::descriptor()) {
      const auto& role = static_cast<const ClusterRoleBinding&>(*each).role_ref().name();
      CHECK(keys.contains(api::kind_of<ClusterRole>().key({}, role)));
    }
    if (each->GetDescriptor() == RoleBinding::descriptor()) {
      const auto& binding = static_cast<const RoleBinding&>(*each);
      CHECK(keys.contains(
          api::kind_of<Role>().key(binding.metadata().namespace_(), binding.role_ref().name())));
    }
  }
}

TEST_CASE("a store without the default policy gets it once, with aggregated roles complete",
          "[access]") {
  cluster c{1};
  CHECK(reconcile(c) == read_policy(default_policy_text).size());
  CHECK(reconcile(c) == 0);
  const auto view = c.get<ClusterRole>({}, "view");
  CHECK(view.rules_size() > 5);
  CHECK(view.metadata().labels().at("kubernetes.io/bootstrapping") == "rbac-defaults");
  CHECK(c.get<ClusterRole>({}, "edit").rules_size() > view.rules_size());
  CHECK(c.get<ClusterRole>({}, "admin").rules_size() > c.get<ClusterRole>({}, "edit").rules_size());
  // The aggregator has nothing left to do.
  const auto before = c.store().read().at();
  c.advance(seconds{5});
  CHECK(c.find<ClusterRole>({}, "admin")->revision() <= before);

  RoleBinding binding;
  binding.mutable_metadata()->set_name("jane");
  binding.mutable_role_ref()->set_kind("ClusterRole");
  binding.mutable_role_ref()->set_name("view");
  binding.mutable_role_ref()->set_api_group("rbac.authorization.k8s.io");
  binding.add_subjects()->set_kind("User");
  binding.mutable_subjects(0)->set_name("jane");
  c.create(binding);
  CHECK(may(c, viewer("list", "pods", "default")));
  CHECK_FALSE(may(c, viewer("list", "secrets", "default")));
  CHECK_FALSE(may(c, viewer("delete", "pods", "default")));
  CHECK_FALSE(may(c, viewer("list", "pods", "kube-system")));
  CHECK_FALSE(may(c, viewer("list", "pods", "")));
}

TEST_CASE("a start restores lost default rules, keeps added rules and leaves protected roles alone",
          "[access]") {
  cluster c{1};
  reconcile(c);
  c.change<ClusterRole>({}, "system:kube-dns", [](ClusterRole& role) {
    role.mutable_rules()->DeleteSubrange(0, 1);
    auto& own = *role.add_rules();
    own.add_verbs("get");
    own.add_api_groups("");
    own.add_resources("configmaps");
    (*role.mutable_metadata()->mutable_labels())["mine"] = "yes";
  });
  c.change<ClusterRoleBinding>({}, "system:discovery",
                               [](ClusterRoleBinding& binding) { binding.clear_subjects(); });
  c.change<ClusterRole>({}, "system:monitoring", [](ClusterRole& role) {
    role.clear_rules();
    (*role.mutable_metadata()
          ->mutable_annotations())["rbac.authorization.kubernetes.io/autoupdate"] = "false";
  });
  CHECK(reconcile(c) == 2);
  const auto dns = c.get<ClusterRole>({}, "system:kube-dns");
  CHECK(dns.rules(0).resources(0) == "configmaps");
  CHECK(dns.metadata().labels().at("mine") == "yes");
  CHECK(may(c, {.user = "system:serviceaccount:kube-system:kube-dns",
                .verb = "watch",
                .resource = "endpoints"}));
  CHECK(c.get<ClusterRoleBinding>({}, "system:discovery").subjects_size() == 1);
  CHECK(c.get<ClusterRole>({}, "system:monitoring").rules_size() == 0);
  CHECK(reconcile(c) == 0);
}

TEST_CASE("a long chain of roles that aggregate is followed to its end", "[access]") {
  actors::access::cluster_roles all;
  const int length = 300;
  for (int i = 0; i <= length; ++i) {
    ClusterRole role;
    role.mutable_metadata()->set_name(fmt::format("link-{}", i));
    (*role.mutable_metadata()->mutable_labels())["link"] = std::to_string(i);
    if (i < length)
      (*role.mutable_aggregation_rule()
            ->add_cluster_role_selectors()
            ->mutable_match_labels())["link"] = std::to_string(i + 1);
    else
      role.add_rules()->add_verbs("get");
    all.emplace(role.metadata().name(),
                std::make_shared<const api::object>(api::kind_of<ClusterRole>(),
                                                    std::make_unique<ClusterRole>(role), 1));
  }
  actors::access::aggregation aggregated{all};
  for (const auto& [name, object] : all) {
    const auto rules = aggregated.rules_of(object->as<ClusterRole>());
    REQUIRE(rules.size() == 1);
    CHECK(rules[0].verbs(0) == "get");
  }
}

TEST_CASE("roles that aggregate each other get the same rules, and are then left alone",
          "[access]") {
  cluster c{1};
  const auto label = [](int i) { return "of-" + std::to_string(i % 3); };
  // Each selects the next one and its own source; all are stored with other rules.
  for (int i = 0; i < 3; ++i) {
    c.create_yaml(fmt::format(R"({{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole",
      "metadata":{{"name":"source-{0}","labels":{{"{1}":"true"}}}},
      "rules":[{{"verbs":["get"],"apiGroups":[""],"resources":["source{0}"]}}]}})",
                              i, label(i + 1)));
    c.create_yaml(fmt::format(R"({{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole",
      "metadata":{{"name":"ring-{0}","labels":{{"{1}":"true"}}}},
      "rules":[{{"verbs":["get"],"apiGroups":[""],"resources":["ring{0}"]}}],
      "aggregationRule":{{"clusterRoleSelectors":[{{"matchLabels":{{"{2}":"true"}}}}]}}}})",
                              i, label(i), label(i + 1)));
  }
  const auto revisions = [&c] {
    std::vector<persistence::revision> out;
    for (const auto* name : {"ring-0", "ring-1", "ring-2"})
      out.push_back(c.find<ClusterRole>({}, name)->revision());
    return out;
  };
  c.advance(seconds{10});
  for (const auto* name : {"ring-0", "ring-1", "ring-2"})
    CHECK(c.get<ClusterRole>({}, name).rules_size() == 3);
  const auto settled = revisions();
  c.crash("role-aggregator", "role-aggregator");
  c.advance(seconds{10});
  CHECK(revisions() == settled);
}

TEST_CASE(
    "an aggregated role has the rules of the roles that it selects, through chains and crashes",
    "[access]") {
  cluster c{1};
  const auto role = [](const std::string& name, const std::string& label,
                       const std::string& resource) {
    ClusterRole made;
    made.mutable_metadata()->set_name(name);
    if (!label.empty()) (*made.mutable_metadata()->mutable_labels())[label] = "true";
    if (resource.empty()) return made;
    auto& rule = *made.add_rules();
    rule.add_verbs("get");
    rule.add_api_groups("");
    rule.add_resources(resource);
    return made;
  };
  const auto selecting = [&](const std::string& name, const std::string& label,
                             const std::string& selects) {
    auto made = role(name, label, "");
    (*made.mutable_aggregation_rule()
          ->add_cluster_role_selectors()
          ->mutable_match_labels())[selects] = "true";
    return made;
  };
  const auto count = [&](const std::string& name) {
    return c.get<ClusterRole>({}, name).rules_size();
  };
  c.create(selecting("all", "", "to-all"));
  c.create(selecting("some", "to-all", "to-some"));
  c.create(role("a", "to-some", "pods"));
  CHECK(c.run_until([&] { return count("some") == 1 && count("all") == 1; }));
  c.crash("role-aggregator", "role-aggregator");
  c.create(role("b", "to-some", "secrets"));
  c.create(role("c", "to-some", "pods"));  // the same rule as of a
  CHECK(c.run_until([&] { return count("some") == 2 && count("all") == 2; }));
  // Its own rules are replaced.
  c.change<ClusterRole>({}, "some", [](ClusterRole& now) { now.clear_rules(); });
  c.remove<ClusterRole>({}, "b");
  CHECK(c.run_until([&] { return count("some") == 1 && count("all") == 1; }));
}

}  // namespace troupe::test
