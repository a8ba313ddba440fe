// Roles and bindings over HTTP: bindings apply at once, users cannot grant more than they have in
// any way of writing, and reviews match the decisions.
#include <fmt/format.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "server/fixtures/guarded_api.hpp"

using namespace troupe;
using namespace troupe::server::testing;
using Catch::Contains;
using Catch::StartsWith;
using test::http_client;

namespace {

const std::string maps = "/api/v1/namespaces/default/configmaps";
const std::string everything = R"([{"verbs":["*"],"apiGroups":["*"],"resources":["*"]}])";
// All rights on roles, except escalate and bind.
const std::string writes_roles =
    R"({"verbs":["get","create","update","patch","delete"],)"
    R"("apiGroups":["rbac.authorization.k8s.io"],)"
    R"("resources":["roles","rolebindings","clusterroles","clusterrolebindings"]})";

}  // namespace

TEST_CASE("bindings apply from the response on, and removed ones do not") {
  guarded_api api;
  CHECK(api.ask("jane", "GET", maps).status == 403);
  api.make(api.bindings, api.bind("jane", "ClusterRole", "view", "jane"));
  CHECK(api.ask("jane", "GET", maps).status == 200);
  CHECK(api.ask("jane", "GET", "/api/v1/namespaces/kube-system/configmaps").status == 403);
  CHECK(api.ask("jane", "GET", "/api/v1/configmaps").status == 403);
  CHECK(api.ask("jane", "GET", "/api/v1/namespaces/default/secrets").status == 403);
  CHECK(api.ask("jane", "POST", maps, R"({"metadata":{"name":"m"}})").status == 403);
  CHECK(api.ask("root", "DELETE", api.bindings + "/jane").status == 200);
  CHECK(api.ask("jane", "GET", maps).status == 403);
}

TEST_CASE(
    "an authorization includes all writes acknowledged before the request, on any connection") {
  guarded_api api;
  std::atomic<int> done{0};
  std::atomic<int> wrong{0};
  std::vector<std::thread> clients;
  for (int who = 0; who < 4; ++who)
    clients.emplace_back([&, who] {
      http_client giver{api.where}, taker{api.where};
      const auto name = "user-" + std::to_string(who);
      for (int i = 0; i < 50; ++i) {
        const auto made = guarded_api::ask(giver, "root", "POST", api.bindings,
                                           api.bind(name, "ClusterRole", "view", name));
        if (made.status != 201 || guarded_api::ask(taker, name, "GET", maps).status != 200) ++wrong;
        const auto gone = guarded_api::ask(giver, "root", "DELETE", api.bindings + "/" + name);
        if (gone.status != 200 || guarded_api::ask(taker, name, "GET", maps).status != 403) ++wrong;
        ++done;
      }
    });
  for (auto& each : clients)
    each.join();
  CHECK(done == 200);
  CHECK(wrong == 0);
}

TEST_CASE("a request without credentials is anonymous, one with invalid credentials is refused") {
  guarded_api api;
  CHECK(api.ask("", "GET", maps).status == 403);
  CHECK_THAT(api.ask("", "GET", maps).at("message"),
             Contains("User \"system:anonymous\" cannot list resource \"configmaps\""));
  CHECK(api.ask("bad", "GET", maps).status == 401);
  CHECK(api.ask("", "GET", "/version").status == 200);
  api.make(api.bindings, R"({"metadata":{"name":"open"},"roleRef":{"kind":"ClusterRole",)"
                         R"("name":"view"},"subjects":[{"kind":"Group",)"
                         R"("name":"system:unauthenticated"}]})");
  CHECK(api.ask("", "GET", maps).status == 200);
}

TEST_CASE("a refusal names a role that is bound and is not there") {
  guarded_api api;
  api.make(api.bindings, api.bind("jane", "Role", "none", "jane"));
  CHECK(api.ask("jane", "GET", maps).at("message") ==
        "configmaps is forbidden: User \"jane\" cannot list resource \"configmaps\" in API group "
        "\"\" in the namespace \"default\": RBAC: role.rbac.authorization.k8s.io \"none\" not "
        "found");
}

TEST_CASE("a bootstrap token has no rights of authenticated users") {
  guarded_api api;
  api.make(api.cluster_bindings, R"({"metadata":{"name":"all"},"roleRef":{"kind":"ClusterRole",)"
                                 R"("name":"cluster-admin"},"subjects":[{"kind":"Group",)"
                                 R"("name":"system:authenticated"}]})");
  CHECK(api.ask("jane", "GET", maps).status == 200);
  CHECK(api.ask("token:abc", "GET", maps).status == 403);
  CHECK(api.ask("token:abc", "GET", "/api").status == 403);
}

TEST_CASE("nobody escalates: by create, put, any patch, by labels, bindings or another name") {
  guarded_api api;
  api.give("joe", writes_roles);
  const auto role = [](const std::string& rules, const std::string& rest = "") {
    return R"({"metadata":{"name":"r")" + rest + R"(},"rules":)" + rules + "}";
  };
  const auto refused = [](const rest_answer& answer) {
    INFO(answer.text());
    CHECK(answer.status == 403);
    CHECK_THAT(answer.at("message"), Contains("is attempting to grant RBAC permissions not "
                                              "currently held:\n{APIGroups:[\"*\"], "
                                              "Resources:[\"*\"], Verbs:[\"*\"]}"));
  };
  refused(api.ask("joe", "POST", api.roles, role(everything)));
  refused(api.ask("joe", "POST", api.cluster_roles, role(everything)));
  // A PUT that creates.
  refused(api.ask("joe", "PUT", api.cluster_roles + "/r", role(everything)));
  refused(api.ask("joe", "POST", api.cluster_roles + "?dryRun=All", role(everything)));
  REQUIRE(api.ask("joe", "POST", api.cluster_roles, role("[]")).status == 201);
  refused(api.ask("joe", "PUT", api.cluster_roles + "/r", role(everything)));
  const auto patch = [&](const std::string& type, const std::string& body) {
    return api.ask("joe", "PATCH", api.cluster_roles + "/r", body,
                   {{"Content-Type", "application/" + type + "patch+json"}});
  };
  refused(patch("merge-", R"({"rules":)" + everything + "}"));
  refused(patch("strategic-merge-", R"({"rules":)" + everything + "}"));
  refused(patch("json-", R"([{"op":"add","path":"/rules","value":)" + everything + "}]"));
  // It cannot be written through a status.
  CHECK(api.ask("joe", "PUT", api.cluster_roles + "/r/status", role(everything)).status >= 400);
  CHECK(api.ask("joe", "PATCH", api.cluster_roles + "/r/status", R"({"rules":)" + everything + "}",
                {{"Content-Type", "application/merge-patch+json"}})
            .status >= 400);
  // By aggregation: with the role that aggregates, and with the aggregated one.
  CHECK_THAT(patch("merge-", R"({"aggregationRule":{"clusterRoleSelectors":[{}]}})").at("message"),
             Contains("must have cluster-admin privileges to use the aggregationRule"));
  refused(
      api.ask("joe", "PATCH", api.cluster_roles + "/cluster-admin",
              R"({"metadata":{"labels":{"rbac.authorization.k8s.io/aggregate-to-view":"true"}}})",
              {{"Content-Type", "application/merge-patch+json"}}));
  // By bindings.
  const auto admin = api.bind("b", "ClusterRole", "cluster-admin", "joe");
  refused(api.ask("joe", "POST", api.bindings, admin));
  refused(api.ask("joe", "POST", api.cluster_bindings, admin));
  refused(api.ask("joe", "PATCH", api.cluster_bindings + "/cluster-admin",
                  R"({"subjects":[{"kind":"User","name":"joe"}]})",
                  {{"Content-Type", "application/merge-patch+json"}}));
  CHECK(api.ask("joe", "GET", maps).status == 403);
  // By impersonation: only if it is granted, and then with the rights of that user.
  CHECK(api.ask("joe", "GET", maps, {}, {{"Impersonate-User", "root"}}).status == 403);
  api.give("joe",
           R"({"verbs":["impersonate"],"apiGroups":[""],"resources":["users"],)"
           R"("resourceNames":["jane"]})",
           "as-jane");
  CHECK(api.ask("joe", "GET", maps, {},
                {{"Impersonate-User", "jane"}, {"Impersonate-Group", "system:masters"}})
            .status == 403);
  const auto as_jane =
      api.ask("joe", "POST", api.cluster_roles, R"({"metadata":{"name":"x"},"rules":[]})",
              {{"Impersonate-User", "jane"}});
  CHECK(as_jane.status == 403);
}

TEST_CASE("nobody escalates by server-side apply, of a role, its labels, or a binding") {
  guarded_api api;
  api.give("joe", writes_roles);
  const auto apply = [&](const std::string& path, const std::string& kind,
                         const std::string& content) {
    const auto name = path.substr(path.rfind('/') + 1);
    return api.ask("joe", "PATCH", path + "?fieldManager=joe&force=true",
                   fmt::format(R"({{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"{}",)"
                               R"("metadata":{{"name":"{}"}},{}}})",
                               kind, name, content),
                   {{"Content-Type", "application/apply-patch+yaml"}});
  };
  const auto refused = [](const rest_answer& answer, const std::string& words) {
    INFO(answer.text());
    CHECK(answer.status == 403);
    CHECK_THAT(answer.at("message"), Contains(words));
  };
  const std::string granting = "is attempting to grant RBAC permissions not currently held";
  const auto rules = R"("rules":)" + everything;
  refused(apply(api.cluster_roles + "/r", "ClusterRole", rules), granting);
  refused(apply(api.roles + "/r", "Role", rules), granting);
  CHECK(apply(api.cluster_roles + "/r", "ClusterRole", R"("rules":[])").status == 201);
  refused(apply(api.cluster_roles + "/r", "ClusterRole", rules), granting);
  refused(apply(api.cluster_roles + "/r", "ClusterRole",
                R"("aggregationRule":{"clusterRoleSelectors":[{}]})"),
          "must have cluster-admin privileges to use the aggregationRule");
  refused(apply(api.cluster_bindings + "/b", "ClusterRoleBinding",
                R"("roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole",)"
                R"("name":"cluster-admin"},"subjects":[{"kind":"User","name":"joe",)"
                R"("apiGroup":"rbac.authorization.k8s.io"}])"),
          granting);
  CHECK(api.ask("joe", "GET", maps).status == 403);
}

TEST_CASE("the verbs bind and escalate give the roles that they name, in their scope") {
  guarded_api api;
  api.give("joe", writes_roles);
  api.give("joe",
           R"({"verbs":["bind"],"apiGroups":["rbac.authorization.k8s.io"],)"
           R"("resources":["clusterroles"],"resourceNames":["view"]},)"
           R"({"verbs":["escalate"],"apiGroups":["rbac.authorization.k8s.io"],)"
           R"("resources":["clusterroles"],"resourceNames":["mine"]})",
           "some");
  const auto bind = [&](const std::string& role) {
    return api.ask("joe", "POST", api.bindings, api.bind(role, "ClusterRole", role, "joe")).status;
  };
  CHECK(bind("view") == 201);
  CHECK(bind("edit") == 403);
  CHECK(bind("cluster-admin") == 403);
  CHECK(api.ask("joe", "GET", maps).status == 200);
  const auto role = [](const std::string& name, const std::string& rules) {
    return fmt::format(R"({{"metadata":{{"name":"{}"}},"rules":{}}})", name, rules);
  };
  for (const auto* name : {"mine", "other"})
    REQUIRE(api.ask("joe", "POST", api.cluster_roles, role(name, "[]")).status == 201);
  CHECK(api.ask("joe", "PUT", api.cluster_roles + "/mine", role("mine", everything)).status == 200);
  CHECK(api.ask("joe", "PUT", api.cluster_roles + "/other", role("other", everything)).status ==
        403);
  // The right to write any role does not allow to bind it.
  CHECK(bind("mine") == 403);
}

TEST_CASE("an update that creates needs the verb create") {
  guarded_api api;
  api.give("joe", R"({"verbs":["get","update"],"apiGroups":["coordination.k8s.io"],)"
                  R"("resources":["leases"]})");
  const std::string lease = "/apis/coordination.k8s.io/v1/namespaces/default/leases/l";
  const std::string body = R"({"metadata":{"name":"l"},"spec":{}})";
  const auto refused = api.ask("joe", "PUT", lease, body);
  CHECK(refused.status == 403);
  CHECK_THAT(refused.at("message"), Contains("cannot create resource \"leases\""));
  CHECK(api.ask("root", "PUT", lease, body).status == 201);
  CHECK(api.ask("joe", "PUT", lease, body).status == 200);
}

TEST_CASE("a list of one name is authorized by that name") {
  guarded_api api;
  api.give("joe", R"({"verbs":["get","list","watch","deletecollection"],"apiGroups":[""],)"
                  R"("resources":["configmaps"],"resourceNames":["mine"]})");
  CHECK(api.ask("joe", "GET", maps).status == 403);
  CHECK(api.ask("joe", "GET", maps + "?fieldSelector=metadata.name%3Dmine").status == 200);
  CHECK(api.ask("joe", "GET", maps + "?fieldSelector=metadata.name%3Dother").status == 403);
  CHECK(api.ask("joe", "GET", maps + "?fieldSelector=metadata.name!%3Dmine").status == 403);
  const std::string more = "?fieldSelector=metadata.namespace%3Ddefault,metadata.name%3D";
  CHECK(api.ask("joe", "GET", maps + more + "mine").status == 200);
  CHECK(api.ask("joe", "GET", maps + more + "other").status == 403);
  CHECK(api.ask("joe", "DELETE", maps + "?fieldSelector=metadata.name%3Dmine").status == 403);
  CHECK(api.ask("joe", "GET",
                maps + "?fieldSelector=metadata.name%3Dmine&fieldSelector=metadata.name%3Dother")
            .size("items") == 0);
  CHECK(api.ask("joe", "GET", maps + "/mine").status == 404);
}

TEST_CASE("reviews show the permissions of others, with the reason") {
  guarded_api api;
  const std::string reviews = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
  const std::string local =
      "/apis/authorization.k8s.io/v1/namespaces/default/localsubjectaccessreviews";
  api.make(api.bindings, api.bind("jane", "ClusterRole", "view", "jane"));
  const auto about = [](const std::string& who, const std::string& verb) {
    return R"({"spec":{)" + who + R"(,"resourceAttributes":{"namespace":"default","verb":")" +
           verb + R"(","resource":"pods"}}})";
  };
  const auto may = api.ask("root", "POST", reviews, about(R"("user":"jane")", "list"));
  CHECK(may.status == 201);
  CHECK(may.at("status.allowed") == "true");
  CHECK(may.at("status.reason") ==
        "RBAC: allowed by RoleBinding \"jane/default\" of ClusterRole \"view\" to User \"jane\"");
  const auto may_not = api.ask("root", "POST", reviews, about(R"("user":"jane")", "delete"));
  CHECK(may_not.at("status.allowed") == "false");
  CHECK_FALSE(may_not.has("status.denied"));
  CHECK(api.ask("root", "POST", reviews, about(R"("groups":["system:masters"])", "delete"))
            .at("status.allowed") == "true");
  CHECK(api.ask("jane", "POST", reviews, about(R"("user":"jane")", "list")).status == 403);

  CHECK(api.ask("root", "POST", local, about(R"("user":"jane")", "list")).at("status.allowed") ==
        "true");
  const auto elsewhere = api.ask("root", "POST", local,
                                 R"({"spec":{"user":"jane","resourceAttributes":{"namespace":)"
                                 R"("other","verb":"list","resource":"pods"}}})");
  CHECK(elsewhere.status == 422);
  CHECK_THAT(elsewhere.at("message"), Contains("must match metadata.namespace"));
  const auto empty = api.ask("root", "POST", reviews, R"({"spec":{"user":"jane"}})");
  CHECK(empty.status == 422);
  CHECK_THAT(empty.at("message"), Contains("exactly one of nonResourceAttributes or "
                                           "resourceAttributes must be specified"));
  CHECK_THAT(api.ask("root", "POST", reviews,
                     R"({"spec":{"nonResourceAttributes":{"path":"/x","verb":"get"}}})")
                 .at("message"),
             Contains("at least one of user or group must be specified"));
}

TEST_CASE("a review has no metadata of its own, and selectors that are whole") {
  guarded_api api;
  const std::string group = "/apis/authorization.k8s.io/v1/";
  const auto ask = [&](const std::string& plural, const std::string& meta,
                       const std::string& selectors = {}) {
    return api.ask("root", "POST", group + plural,
                   R"({"metadata":{)" + meta + R"(},"spec":{"user":"jane","resourceAttributes":)" +
                       R"({"verb":"list","resource":"pods","namespace":"default")" + selectors +
                       "}}}");
  };
  const auto named = ask("subjectaccessreviews", R"("name":"x")");
  CHECK(named.status == 422);
  CHECK(named.at("message") == R"(SubjectAccessReview.authorization.k8s.io "" is invalid: )"
                               R"(metadata: Invalid value: {"name":"x"}: must be empty)");
  CHECK(ask("selfsubjectaccessreviews", R"("labels":{"a":"b"})").status == 422);
  const auto spaced = ask("subjectaccessreviews", R"("namespace":"x")");
  CHECK(spaced.status == 201);
  CHECK(spaced.at("metadata") == "{}");
  const std::string local = "namespaces/default/localsubjectaccessreviews";
  CHECK(ask(local, R"("namespace":"default")").status == 201);
  CHECK(ask(local, R"("namespace":"other")").status == 400);
  CHECK_THAT(ask(local, R"("name":"x")").at("message"),
             Contains("must be empty except for namespace"));

  CHECK_THAT(ask("subjectaccessreviews", "", R"(,"fieldSelector":{})").at("message"),
             Contains("spec.resourceAttributes.fieldSelector.requirements: Required value: when "
                      "spec.resourceAttributes.fieldSelector is specified, requirements or "
                      "rawSelector is required"));
  const auto both = ask("subjectaccessreviews", "",
                        R"(,"labelSelector":{"rawSelector":"a","requirements":)"
                        R"([{"key":"a","operator":"In"}]})");
  CHECK_THAT(both.at("message"),
             Contains("labelSelector.rawSelector: Invalid value: \"a\": may not specified at the "
                      "same time as requirements") &&
                 Contains("labelSelector.requirements[0].values: Required value: must be specified "
                          "when `operator` is 'In' or 'NotIn'"));
  CHECK(ask("subjectaccessreviews", "",
            R"(,"fieldSelector":{"requirements":[{"key":"a","operator":"Exists"}]})")
            .status == 201);
}

TEST_CASE("everybody learns the rules that they have in a namespace") {
  guarded_api api;
  api.make(api.bindings, api.bind("jane", "Role", "maps", "jane"));
  api.make(api.roles, R"({"metadata":{"name":"maps"},"rules":[{"verbs":["get"],"apiGroups":[""],)"
                      R"("resources":["configmaps"],"resourceNames":["m"]}]})");
  const std::string path = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews";
  const auto rules = api.ask("jane", "POST", path, R"({"spec":{"namespace":"default"}})");
  CHECK(rules.status == 201);
  CHECK(rules.at("spec") == "{}");
  CHECK(rules.at("status.incomplete") == "false");
  CHECK_THAT(rules.at("status.resourceRules"),
             Contains(R"({"verbs":["get"],"apiGroups":[""],"resources":["configmaps"],)"
                      R"("resourceNames":["m"]})"));
  CHECK_THAT(rules.at("status.resourceRules"), Contains("selfsubjectaccessreviews"));
  CHECK_THAT(rules.at("status.nonResourceRules"), Contains("/openapi/*"));
  const auto other = api.ask("jane", "POST", path, R"({"spec":{"namespace":"kube-system"}})");
  CHECK_THAT(other.at("status.resourceRules"), !Contains("configmaps"));
}

TEST_CASE("a start adds missing default rules, and writes nothing if none is missing") {
  rest_test server;
  const std::string group = "/apis/rbac.authorization.k8s.io/v1/";
  CHECK(server.get(group + "clusterroles").size("items") > 60);
  CHECK(server.get(group + "namespaces/kube-system/roles").size("items") == 6);
  const auto settled = server.store().read().at();
  REQUIRE(server.api().create_system_objects().has_value());
  CHECK(server.store().read().at() == settled);

  // As in a store that is older than roles.
  REQUIRE(server.remove(group + "clusterroles").status == 200);
  REQUIRE(server.remove(group + "clusterrolebindings").status == 200);
  CHECK(server.get(group + "clusterroles").size("items") == 0);
  const auto before = server.store().read().at();
  REQUIRE(server.api().create_system_objects().has_value());
  CHECK(server.store().read().at() == before + 1);  // one transaction
  CHECK(server.get(group + "clusterroles/cluster-admin").status == 200);
  CHECK(server.get(group + "clusterrolebindings/cluster-admin").at("roleRef.name") ==
        "cluster-admin");
}
