#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <mutex>
#include <set>

#include "server/access/authorization.hpp"
#include "server/fixtures/rest_fixture.hpp"
#include "server/rest/requests/audit.hpp"

using namespace troupe;
using namespace troupe::server::testing;

namespace {

const std::string pods = "/api/v1/namespaces/default/pods";
const std::string services = "/api/v1/namespaces/default/services";

std::string service_json(const std::string& name, const std::string& extra = {},
                         const std::string& port = {}) {
  return fmt::format(
      R"({{"metadata":{{"name":"{}"}},"spec":{{{}"selector":{{"a":"b"}},"ports":[{{"port":80{}}}]}}}})",
      name, extra, port);
}

}  // namespace

TEST_CASE("a pod is bound once") {
  rest_test server;
  const auto uid = server.create_pod("web").at("metadata.uid");
  const auto wrong =
      server.post(pods + "/web/binding", R"({"metadata":{"uid":"x"},"target":{"name":"n1"}})");
  CHECK(wrong.status == 409);
  CHECK(server.post(pods + "/web/binding", R"({"target":{}})").status == 422);
  const auto bound = server.post(
      "/api/v1/namespaces/default/bindings",
      R"({"metadata":{"name":"web","uid":")" + uid + R"("},"target":{"kind":"Node","name":"n1"}})");
  CHECK(bound.status == 201);
  CHECK(bound.at("status") == "Success");
  CHECK(server.get(pods + "/web").at("spec.nodeName") == "n1");
  const auto again = server.post(pods + "/web/binding", R"({"target":{"name":"n2"}})");
  CHECK(again.status == 409);
  CHECK_THAT(again.at("message"), Catch::Contains("already assigned"));
}

TEST_CASE("an eviction deletes a pod with its grace and says why") {
  rest_test server;
  server.create_pod("web");
  server.post(pods + "/web/binding", R"({"target":{"name":"n1"}})");
  const auto evicted = server.post(
      pods + "/web/eviction",
      R"({"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"web","namespace":"default"},
          "deleteOptions":{"gracePeriodSeconds":9}})");
  CHECK(evicted.status == 201);
  const auto pod = server.get(pods + "/web");
  CHECK(pod.at("metadata.deletionGracePeriodSeconds") == "9");
  CHECK_THAT(pod.text(), Catch::Contains("EvictionByEvictionAPI"));
  CHECK(server.post(pods + "/none/eviction", "{}").status == 404);

  server.create_pod("other");
  const auto evict_as = [&](const std::string& version, const std::string& kind) {
    return server
        .post(pods + "/other/eviction",
              fmt::format(R"({{"apiVersion":"{}","kind":"{}","metadata":{{"name":"other"}}}})",
                          version, kind))
        .status;
  };
  CHECK(evict_as("policy/v1", "Pod") == 400);
  CHECK(evict_as("policy/v1alpha1", "Eviction") == 400);
  CHECK(evict_as("policy/v1beta1", "Eviction") == 201);
}

TEST_CASE("an eviction may demand the uid and the revision of its pod") {
  rest_test server;
  const auto made = server.create_pod("web");
  const auto evict = [&](const std::string& member, const std::string& value) {
    return server.post(pods + "/web/eviction",
                       fmt::format(R"({{"metadata":{{"name":"web"}},"deleteOptions":)"
                                   R"({{"preconditions":{{"{}":"{}"}}}}}})",
                                   member, value));
  };
  CHECK(evict("uid", "other").status == 409);
  CHECK(evict("resourceVersion", "1").status == 409);
  CHECK(server.get(pods + "/web").status == 200);
  CHECK(evict("resourceVersion", made.at("metadata.resourceVersion")).status == 201);
}

TEST_CASE("an eviction or a binding of another pod than the path names is refused") {
  rest_test server;
  server.create_pod("other");
  for (const std::string kind : {"Eviction", "Binding"}) {
    const auto path = pods + "/other/" + (kind == "Eviction" ? "eviction" : "binding");
    const auto refused = server.post(path, R"({"metadata":{"name":"web"},"target":{"name":"n1"}})");
    CHECK(refused.status == 400);
    CHECK(refused.at("message") == "name in URL does not match name in " + kind + " object");
  }
  CHECK(server.get(pods + "/other").status == 200);
}

TEST_CASE("each service gets an address of its own") {
  rest_test server;
  std::set<std::string> given;
  for (int i = 0; i < 20; ++i) {
    const auto made = server.post(services, service_json(fmt::format("s{}", i)));
    REQUIRE(made.status == 201);
    CHECK(made.at("spec.clusterIPs.0") == made.at("spec.clusterIP"));
    CHECK(made.at("spec.ipFamilies.0") == "IPv4");
    given.insert(made.at("spec.clusterIP"));
  }
  CHECK(given.size() == 20);
  for (const auto& address : given)
    CHECK_THAT(address, Catch::StartsWith("10."));

  const auto held = server.patch(services + "/s0", "merge", R"({"metadata":{"labels":{"x":"y"}}})");
  CHECK(held.status == 200);
  CHECK(given.contains(held.at("spec.clusterIP")));
}

TEST_CASE("addresses that are taken or foreign are refused") {
  rest_test server;
  const auto with = [&](const char* name, const std::string& address) {
    return server.post(services, service_json(name, R"("clusterIP":")" + address + R"(",)"));
  };
  CHECK(with("a", "10.96.0.77").at("spec.clusterIP") == "10.96.0.77");
  const auto taken = with("b", "10.96.0.77");
  CHECK(taken.status == 422);
  CHECK_THAT(taken.at("message"), Catch::Contains("provided IP is already allocated"));
  CHECK(taken.at("details.causes.0.field") == "spec.clusterIPs");
  CHECK(with("c", "192.168.0.1").status == 422);
  CHECK(with("d", "None").at("spec.clusterIP") == "None");
  CHECK(server.remove(services + "/a").status == 200);
  CHECK(with("e", "10.96.0.77").status == 201);
}

TEST_CASE("a node port is given, kept, and goes with the type") {
  rest_test server;
  const auto made =
      server.post(services, service_json("a", R"("type":"NodePort",)", R"(,"nodePort":30080)"));
  CHECK(made.at("spec.ports.0.nodePort") == "30080");
  const auto taken =
      server.post(services, service_json("b", R"("type":"NodePort",)", R"(,"nodePort":30080)"));
  CHECK(taken.status == 422);
  CHECK_THAT(taken.at("message"), Catch::Contains("provided port is already allocated"));
  CHECK(server.post(services, service_json("c", R"("type":"NodePort",)", R"(,"nodePort":80)"))
            .status == 422);
  const auto plain = server.patch(services + "/a", "merge", R"({"spec":{"type":"ClusterIP"}})");
  CHECK(plain.status == 200);
  CHECK_FALSE(plain.has("spec.ports.0.nodePort"));
}

TEST_CASE("a service becomes a name for something outside by a patch of its type") {
  rest_test server;
  REQUIRE(server.post(services, service_json("a", R"("clusterIP":"10.96.0.77",)")).status == 201);
  const auto held = server.patch(
      services + "/a", "merge",
      R"({"spec":{"type":"ExternalName","externalName":"x.org","clusterIP":"10.96.0.78"}})");
  CHECK(held.status == 422);
  const auto made = server.patch(services + "/a", "merge",
                                 R"({"spec":{"type":"ExternalName","externalName":"x.org"}})");
  CHECK(made.status == 200);
  for (const std::string field : {"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"})
    CHECK_FALSE(made.has("spec." + field));
  CHECK(server.post(services, service_json("b", R"("clusterIP":"10.96.0.77",)")).status == 201);
  const auto back = server.patch(services + "/a", "merge",
                                 R"({"spec":{"type":"ClusterIP","externalName":null}})");
  CHECK(back.status == 200);
  CHECK_FALSE(back.at("spec.clusterIP").empty());
}

TEST_CASE("one priority class at most is the default of all pods") {
  rest_test server;
  const std::string classes = "/apis/scheduling.k8s.io/v1/priorityclasses";
  const auto make = [&](const std::string& name, const char* global) {
    return server.post(
        classes, fmt::format(R"({{"metadata":{{"name":"{}"}},"value":5,"globalDefault":{}}})", name,
                             global));
  };
  REQUIRE(make("g1", "true").status == 201);
  const std::string words =
      "priorityclasses.scheduling.k8s.io \"g2\" is forbidden: PriorityClass g1 is already marked "
      "as "
      "default. Only one default can exist";
  const auto second = make("g2", "true");
  CHECK(second.status == 403);
  CHECK(second.at("message") == words);
  REQUIRE(make("g2", "false").status == 201);
  const auto changed = server.patch(classes + "/g2", "merge", R"({"globalDefault":true})");
  CHECK(changed.status == 403);
  CHECK(changed.at("message") == words);
  CHECK(server.patch(classes + "/g1", "merge", R"({"description":"d"})").status == 200);
  REQUIRE(server.remove(classes + "/g1").status == 200);
  CHECK(server.patch(classes + "/g2", "merge", R"({"globalDefault":true})").status == 200);
}

TEST_CASE("a pod's priority is its class's, and another one is refused") {
  rest_test server;
  server.post("/apis/scheduling.k8s.io/v1/priorityclasses",
              R"({"metadata":{"name":"high"},"value":5,"preemptionPolicy":"Never"})");
  const auto with = [&](const std::string& name, const std::string& spec) {
    return server.post(pods, pod_json(name, "{}", spec));
  };
  const auto plain = with("a", R"("priority":7,)");
  CHECK(plain.status == 403);
  CHECK(plain.at("message") ==
        "pods \"a\" is forbidden: the integer value of priority (7) must not be provided in pod "
        "spec; priority admission controller computed 0 from the given PriorityClass name");
  CHECK(with("b", R"("priority":0,"preemptionPolicy":"PreemptLowerPriority",)").status == 201);
  CHECK(with("c", R"("priority":5,"priorityClassName":"high",)").status == 201);
  CHECK(server.get(pods + "/c").at("spec.preemptionPolicy") == "Never");
  const auto policy = with("d", R"("preemptionPolicy":"Never",)");
  CHECK(policy.status == 403);
  CHECK(
      policy.at("message") ==
      "pods \"d\" is forbidden: the string value of PreemptionPolicy (Never) must not be provided "
      "in pod spec; priority admission controller computed PreemptLowerPriority from the given "
      "PriorityClass name");
}

TEST_CASE("the priority classes of the system are there, and stay") {
  // With controllers, which create the system's namespaces at the same time.
  rest_test server{{.simulated_nodes = 1}};
  const std::string critical = "/apis/scheduling.k8s.io/v1/priorityclasses/system-cluster-critical";
  CHECK(server.get(critical).at("value") == "2000000000");
  CHECK(server.patch(critical, "merge", R"({"metadata":{"labels":{"a":"b"}}})").status == 200);
  CHECK(server.patch(critical, "merge", R"({"globalDefault":true})").status == 422);
  const auto refused = server.remove(critical);
  CHECK(refused.status == 403);
  CHECK(refused.at("message") ==
        "priorityclasses.scheduling.k8s.io \"system-cluster-critical\" is forbidden: this is a "
        "system priority class and cannot be deleted");
  server.post(pods, pod_json("a", "{}", R"("priorityClassName":"system-node-critical",)"));
  CHECK(server.get(pods + "/a").at("spec.priority") == "2000001000");
}

TEST_CASE("a pod's service account is there before it") {
  rest_test server;
  const auto make = [&](const std::string& name, const std::string& account) {
    return server.post(pods, pod_json(name, "{}", R"("serviceAccountName":")" + account + R"(",)"));
  };
  const auto refused = make("a", "robot");
  CHECK(refused.status == 403);
  CHECK(refused.at("message") ==
        "pods \"a\" is forbidden: error looking up service account default/robot: serviceaccount "
        "\"robot\" not found");
  REQUIRE(
      server.post("/api/v1/namespaces/default/serviceaccounts", R"({"metadata":{"name":"robot"}})")
          .status == 201);
  CHECK(make("a", "robot").status == 201);
  // Every namespace gets it after some time.
  CHECK(make("b", "default").status == 201);
}

TEST_CASE("clients learn their identity and their permissions") {
  const server::authorization permissions{{}};
  rest_test server{{.rest = {.permissions = &permissions, .observe = {}}}};
  const auto me = server.post("/apis/authentication.k8s.io/v1/selfsubjectreviews", "{}");
  CHECK(me.status == 201);
  CHECK(me.at("status.userInfo.username") == "admin");
  CHECK_THAT(me.at("status.userInfo.groups"), Catch::Contains("system:masters"));
  const auto path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
  const auto may =
      server.post(path, R"({"spec":{"resourceAttributes":{"verb":"create","resource":"pods"}}})");
  CHECK(may.status == 201);
  CHECK(may.at("status.allowed") == "true");
  CHECK(server.post(path, R"({"spec":{}})").status == 422);
  const auto rules = server.post("/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
                                 R"({"spec":{"namespace":"default"}})");
  CHECK(rules.at("status.resourceRules.0.verbs.0") == "*");
}

TEST_CASE("each request is reported to the observer once, with its response") {
  std::vector<std::pair<server::verb, int>> found;
  std::mutex mutex;
  rest_test server{{.rest = {.observe = [&](const server::request_record& record) {
                      const std::lock_guard lock{mutex};
                      found.emplace_back(record.verb, record.status);
                    }}}};
  server.create_pod("web");
  server.get(pods + "/none");
  server.remove(pods + "/web");
  const std::lock_guard lock{mutex};
  CHECK(found == std::vector<std::pair<server::verb, int>>{{server::verb::create, 201},
                                                           {server::verb::get, 404},
                                                           {server::verb::remove, 200}});
}

TEST_CASE("a cluster without custom kinds serves an empty list of definitions") {
  rest_test server;
  const auto none = server.get("/apis/apiextensions.k8s.io/v1/customresourcedefinitions");
  CHECK(none.status == 200);
  CHECK(none.at("kind") == "CustomResourceDefinitionList");
  CHECK(none.size("items") == 0);
  CHECK(server.get("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/x").status == 404);
}

TEST_CASE("a pod may be replaced by its manifest without the fields that admission set") {
  rest_test server;
  auto text = server.create_pod("web").text();
  for (const std::string set :
       {R"(,"priority":0)", R"(,"preemptionPolicy":"PreemptLowerPriority")"}) {
    const auto found = text.find(set);
    REQUIRE(found != text.npos);
    text.erase(found, set.size());
  }
  const auto tolerations = text.find("\"tolerations\":[");
  REQUIRE(tolerations != text.npos);
  text.erase(tolerations, text.find("],", tolerations) + 2 - tolerations);
  const auto put = server.put(pods + "/web", text);
  INFO(put.text());
  CHECK(put.status == 200);
  CHECK(put.size("spec.tolerations") == 2);
  CHECK(put.at("spec.priority") == "0");
  CHECK(put.at("spec.preemptionPolicy") == "PreemptLowerPriority");
}

TEST_CASE("a debug container is refused where the node's runtime cannot start it") {
  rest_test server{{.simulated_nodes = 1}};
  server.create_pod("web");
  const auto is_bound = [&] { return server.get(pods + "/web").has("spec.nodeName"); };
  const std::string change =
      R"({"spec":{"ephemeralContainers":[{"name":"debugger","image":"busybox"}]}})";
  REQUIRE(rest_test::eventually(is_bound));
  const auto refused = server.patch(pods + "/web/ephemeralcontainers", "strategic", change);
  CHECK(refused.status == 403);
  CHECK_THAT(refused.at("message"),
             Catch::Contains("(simulated://1) does not start ephemeral containers"));
  CHECK_FALSE(server.get(pods + "/web").has("spec.ephemeralContainers"));
}

TEST_CASE("the scale of an object is a row of its own columns") {
  rest_test server;
  const std::string controllers = "/api/v1/namespaces/default/replicationcontrollers";
  REQUIRE(server
              .post(controllers,
                    R"({"metadata":{"name":"rc"},"spec":{"replicas":2,"selector":{"a":"b"},
                        "template":{"metadata":{"labels":{"a":"b"}},
                        "spec":{"containers":[{"name":"c","image":"i"}]}}}})")
              .status == 201);
  const auto table = server.get(controllers + "/rc/scale",
                                {{"accept", "application/json;as=Table;v=v1;g=meta.k8s.io"}});
  CHECK(table.at("kind") == "Table");
  CHECK(table.at("columnDefinitions.1.name") == "Desired");
  CHECK(table.at("columnDefinitions.2.name") == "Available");
  CHECK(table.at("rows.0.cells.0") == "rc");
  CHECK(table.at("rows.0.cells.1") == "2");
}

TEST_CASE("a review is never a table") {
  rest_test server;
  const auto asked = [&](const std::string& accept) {
    return server.post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
                       R"({"spec":{"nonResourceAttributes":{"path":"/","verb":"get"}}})",
                       {{"accept", accept}, {"content-type", "application/json"}});
  };
  const std::string table = "application/json;as=Table;v=v1;g=meta.k8s.io";
  CHECK(asked(table).status == 406);
  CHECK(asked(table + ",application/json").at("kind") == "SelfSubjectAccessReview");
}

TEST_CASE("the root lists all paths") {
  rest_test server;
  const auto root = server.get("/");
  CHECK(root.status == 200);
  for (const auto* path : {"/api", "/api/v1", "/apis", "/apis/apps", "/apis/apps/v1", "/version"})
    CHECK_THAT(root.text(), Catch::Contains('"' + std::string{path} + '"'));
  CHECK_THAT(root.at("paths"), !Catch::Contains("/apis/v1"));
  CHECK_THAT(root.text(), Catch::StartsWith("{\n  \"paths\": [\n    \"/.well-known/openid-"));
}
