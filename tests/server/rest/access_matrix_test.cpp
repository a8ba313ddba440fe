// Random roles, bindings and requests over HTTP: 403 exactly if a second, simple implementation
// refuses. Requests are for objects that do not exist, so they change nothing.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <set>

#include "actors/access/policies.hpp"
#include "api/codec/codec.hpp"
#include "server/fixtures/guarded_api.hpp"
#include "support/seeds.hpp"

using namespace troupe;
using namespace troupe::server::testing;
using test::plain_policy;
using test::question;

namespace {

struct caller {
  std::string token, name;
  std::vector<std::string> groups;
};

const std::vector<caller> callers{
    {"jane,dev", "jane", {"dev", "system:authenticated"}},
    {"joe,dev,ops", "joe", {"dev", "ops", "system:authenticated"}},
    {"system:serviceaccount:n1:robot,system:serviceaccounts",
     "system:serviceaccount:n1:robot",
     {"system:serviceaccounts", "system:authenticated"}},
};

struct resource {
  const char* group;
  const char* path;  // of group and version
  const char* plural;
  bool namespaced;
  std::vector<std::string> parts;  // subresources that are read and written
};

const std::vector<resource> resources{
    {"", "/api/v1", "pods", true, {"status", "log"}},
    {"", "/api/v1", "configmaps", true, {}},
    {"apps", "/apis/apps/v1", "deployments", true, {"scale", "status"}},
    {"", "/api/v1", "nodes", false, {"status"}},
    {"storage.k8s.io", "/apis/storage.k8s.io/v1", "storageclasses", false, {}},
};

const std::vector<std::string> collection_verbs{"list", "watch", "create", "deletecollection"};
const std::vector<std::string> object_verbs{"get", "update", "patch", "delete"};

class chance : public test::policy_source {
 public:
  using policy_source::policy_source;

  test::PolicyRule rule() {
    test::PolicyRule out;
    const auto fill = [this](auto* into, const std::vector<std::string>& of) {
      for (auto left = 1 + below(3); left > 0; --left)
        *into->Add() = any(of);
    };
    fill(out.mutable_verbs(),
         {"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "*"});
    fill(out.mutable_api_groups(), {"", "apps", "storage.k8s.io", "", "*"});
    fill(out.mutable_resources(),
         {"pods", "pods/log", "pods/status", "configmaps", "deployments", "deployments/scale",
          "nodes", "nodes/status", "storageclasses", "*/scale", "*/status", "*"});
    if (below(3) == 0) fill(out.mutable_resource_names(), {"x", "y", "z"});
    return out;
  }

  question ask(const caller& by) {
    const auto& of = resources[below(resources.size())];
    question q{.user = by.name, .groups = by.groups, .group = of.group, .resource = of.plural};
    if (of.namespaced) q.ns = any({"n1", "n2"});
    if (below(2) == 0) {
      q.verb = any(collection_verbs);
      const bool reads = q.verb == "list" || q.verb == "watch";
      if (reads && below(3) == 0) q.ns.clear();
      if (reads && below(3) == 0) q.name = any({"x", "y"});
      return q;
    }
    q.verb = any(object_verbs);
    q.name = any({"x", "y", "w"});
    if (q.verb != "delete" && !of.parts.empty() && below(2) == 0) q.subresource = any(of.parts);
    // Read-only resources.
    if (q.subresource == "log") q.verb = "get";
    return q;
  }
};

struct matrix : guarded_api {
  plain_policy plain;

  matrix() {
    for (const auto* ns : {"n1", "n2"})
      make("/api/v1/namespaces", fmt::format(R"({{"metadata":{{"name":"{}"}}}})", ns));
  }

  template <class T>
  void put(std::map<std::string, T>& all, const T& object) {
    const auto& kind = api::kind_of<T>();
    const auto& meta = object.metadata();
    const auto where =
        meta.namespace_().empty() ? group : group + "namespaces/" + meta.namespace_() + "/";
    const auto path = where + std::string{kind.plural()};
    const auto key =
        meta.namespace_().empty() ? meta.name() : meta.namespace_() + "/" + meta.name();
    // The role of a binding cannot be changed.
    if (all.contains(key)) {
      REQUIRE(ask("root", "DELETE", path + "/" + meta.name()).status == 200);
      all.erase(key);
    }
    make(path, api::encode_json(object, kind.api_version(), kind.kind()));
    all[key] = object;
  }

  void change(chance& by) {
    const auto ns = by.any({"n1", "n2"});
    const auto role = [&]<class T>(std::map<std::string, T>& all, const std::string& home) {
      T made;
      made.mutable_metadata()->set_name(by.any({"r1", "r2", "r3"}));
      made.mutable_metadata()->set_namespace_(home);
      for (auto left = 1 + by.below(2); left > 0; --left)
        *made.add_rules() = by.rule();
      put(all, made);
    };
    const auto binding = [&]<class T>(std::map<std::string, T>& all, const std::string& home) {
      T made;
      made.mutable_metadata()->set_name(by.any({"b1", "b2", "b3"}));
      made.mutable_metadata()->set_namespace_(home);
      auto& role_ref = *made.mutable_role_ref();
      role_ref.set_api_group("rbac.authorization.k8s.io");
      role_ref.set_kind(home.empty() || by.below(2) == 0 ? "ClusterRole" : "Role");
      role_ref.set_name(by.any({"r1", "r2", "r3"}));
      auto& subject = *made.add_subjects();
      subject.set_kind(by.any({"User", "Group", "ServiceAccount"}));
      subject.set_name(subject.kind() == "User"    ? by.any({"jane", "joe"})
                       : subject.kind() == "Group" ? by.any({"dev", "ops", "system:authenticated"})
                                                   : "robot");
      if (subject.kind() == "ServiceAccount")
        subject.set_namespace_(by.any({"n1", "n2"}));
      else
        subject.set_api_group("rbac.authorization.k8s.io");
      put(all, made);
    };
    switch (by.below(5)) {
      case 0:
        return role(plain.roles, ns);
      case 1:
        return role(plain.cluster_roles, "");
      case 2:
      case 3:
        return binding(plain.bindings, ns);
      default:
        return binding(plain.cluster_bindings, "");
    }
  }

  // The status of the response.
  int request(const std::string& token, const question& q) {
    const auto of = std::find_if(resources.begin(), resources.end(),
                                 [&](const resource& each) { return each.plural == q.resource; });
    auto path =
        std::string{of->path} + (q.ns.empty() ? "/" : "/namespaces/" + q.ns + "/") + q.resource;
    const bool collection =
        q.verb == "list" || q.verb == "watch" || q.verb == "create" || q.verb == "deletecollection";
    if (!collection) path += "/" + q.name;
    if (!q.subresource.empty()) path += "/" + q.subresource;
    const auto selector =
        collection && !q.name.empty() ? "fieldSelector=metadata.name%3D" + q.name : std::string{};
    if (q.verb == "watch")
      return watching{where,
                      path + "?watch=true&timeoutSeconds=1&" + selector,
                      {{"Authorization", "Bearer " + token}}}
          .status();
    if (q.verb == "get" || q.verb == "list") return ask(token, "GET", path + "?" + selector).status;
    if (q.verb == "create") return ask(token, "POST", path + "?dryRun=All", "{}").status;
    if (q.verb == "update") return ask(token, "PUT", path + "?dryRun=All", "{}").status;
    if (q.verb == "delete") return ask(token, "DELETE", path + "?dryRun=All").status;
    if (q.verb == "deletecollection")
      return ask(token, "DELETE", path + "?dryRun=All&labelSelector=none").status;
    return ask(token, "PATCH", path + "?dryRun=All", "{}",
               {{"Content-Type", "application/merge-patch+json"}})
        .status;
  }
};

}  // namespace

TEST_CASE("with any bindings, a request gets 403 exactly if a simple implementation refuses it") {
  std::set<std::string> allowed, refused;  // verbs
  test::for_each_seed(5, [&](std::uint64_t seed) {
    matrix api;
    chance source{seed};
    for (int round = 0; round < 25; ++round) {
      api.change(source);
      for (int i = 0; i < 20; ++i) {
        const auto& by = callers[source.below(callers.size())];
        const auto q = source.ask(by);
        const bool may = api.plain.allows(q);
        const auto status = api.request(by.token, q);
        INFO(q.user << " " << q.verb << " " << q.group << "/" << q.resource << "/" << q.subresource
                    << " \"" << q.name << "\" in \"" << q.ns << "\": " << status);
        REQUIRE((status != 403) == may);
        REQUIRE(status != 401);
        (may ? allowed : refused).insert(q.verb);
      }
    }
  });
  // Both results occurred for every verb, or the comparison proves little.
  CHECK(allowed.size() == 8);
  CHECK(refused.size() == 8);
}
