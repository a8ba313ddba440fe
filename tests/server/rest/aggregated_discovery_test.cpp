// Discovery of APIs that other servers serve, and the data that these servers need from us.
#include "actors/control_plane/control_plane.hpp"
#include "api/schema/core_config.pb.h"
#include "api/scheme.hpp"
#include "runtime/actor_system.hpp"
#include "server/rest/aggregation_stage.hpp"
#include "server/rest/calls/system_objects.hpp"

using namespace troupe;
using namespace troupe::server::testing;
using Catch::Contains;

TEST_CASE("discovery lists an aggregated API by its priority, and keeps it while it is stale") {
  aggregation_stage t;
  const auto before = t.server->get("/apis", aggregated).text();
  t.serve();
  t.register_api(t.bundle());
  REQUIRE(t.comes_to("Passed"));
  const auto document = [&] { return t.server->get("/apis", aggregated); };
  // Above custom kinds, below all built-in ones.
  const auto place = [&](const rest_answer& of) {
    for (std::size_t i = 0; i < of.size("items"); ++i)
      if (of.at(fmt::format("items.{}.metadata.name", i)) == "ext.example.com") return i;
    return of.size("items");
  };
  REQUIRE(rest_test::eventually([&] {
    const auto now = document();
    return now.at(fmt::format("items.{}.versions.0.freshness", place(now))) == "Current";
  }));
  auto now = document();
  const auto at = fmt::format("items.{}.versions.0.", place(now));
  CHECK(now.at(at + "version") == "v1");
  CHECK(now.at(at + "resources.0.resource") == "things");
  CHECK(now.at(at + "resources.0.shortNames.0") == "th");
  CHECK(now.at(at + "resources.0.scope") == "Namespaced");
  CHECK(now.at(at + "resources.0.responseKind.kind") == "Thing");
  CHECK(now.at(at + "resources.0.subresources.0.subresource") == "status");
  CHECK(now.at(fmt::format("items.{}.metadata.name", place(now) + 1)) == "metrics.k8s.io");
  CHECK_THAT(t.server->get("/apis").text(), Contains("\"ext.example.com/v1\""));
  CHECK(t.server->get("/apis/ext.example.com").at("preferredVersion.version") == "v1");
  CHECK(t.server->get(root).at("resources.0.name") == "things");
  CHECK_THAT(t.server->get("/").text(), Contains("\"" + root + "\""));
  const auto openapi = "/openapi/v3" + root;
  CHECK_THAT(t.server->get("/openapi/v3").text(), Contains("\"" + openapi + "\""));
  CHECK(t.server->get(openapi).at("said") == "here");
  t.fails = true;
  t.server->patch(slices + "/ext-1", "merge", R"({"metadata":{"annotations":{"a":"b"}}})");
  REQUIRE(t.comes_to("FailedDiscoveryCheck"));
  REQUIRE(rest_test::eventually([&] { return document().at(at + "freshness") == "Stale"; }));
  CHECK(document().at(at + "resources.0.resource") == "things");
  t.server->remove(api_services + "/v1.ext.example.com");
  REQUIRE(rest_test::eventually([&] { return document().text() == before; }));
  CHECK(t.server->get(things).status == 404);
}

TEST_CASE("other servers find out how they know the front proxies of all control planes") {
  auto store = persistence::store::open({});
  REQUIRE(store);
  runtime::actor_system system;
  actors::control_plane plane{
      system,
      **store,
      {.controllers = false,
       .authority = std::make_shared<actors::cluster_authority>("CLIENTS\n")}};
  const auto data = [&](const std::string& key) {
    const auto& kind = api::kind_of<api::core::v1::ConfigMap>();
    const auto found =
        (*store)->read().find(kind.key("kube-system", "extension-apiserver-authentication"));
    REQUIRE(found);
    const auto& all = found->as<api::core::v1::ConfigMap>().data();
    const auto value = all.find(key);
    return value == all.end() ? std::string{} : value->second;
  };
  // A cluster of an earlier version.
  REQUIRE(server::prepare_cluster(plane));
  CHECK(data("requestheader-client-ca-file").empty());
  REQUIRE(server::prepare_cluster(plane, "FIRST\n"));
  REQUIRE(server::prepare_cluster(plane, "SECOND\n"));
  REQUIRE(server::prepare_cluster(plane, "FIRST\n"));
  CHECK(data("client-ca-file") == "CLIENTS\n");
  CHECK(data("requestheader-client-ca-file") == "FIRST\nSECOND\n");
  CHECK(data("requestheader-allowed-names") == R"(["front-proxy-client"])");
  CHECK(data("requestheader-username-headers") == R"(["X-Remote-User"])");
  CHECK(data("requestheader-group-headers") == R"(["X-Remote-Group"])");
  CHECK(data("requestheader-extra-headers-prefix") == R"(["X-Remote-Extra-"])");
}

TEST_CASE("metrics of another server take the place of our own, and leave it again") {
  aggregation_stage t;
  const std::string path = "/apis/metrics.k8s.io/v1beta1/nodes";
  CHECK(t.server->get(path).at("kind") == "NodeMetricsList");
  t.serve();
  t.backend->respond = [](const std::string& request) {
    return answer_of(request.starts_with("GET /apis/metrics.k8s.io/v1beta1 ")
                         ? R"({"kind":"APIResourceList","groupVersion":"metrics.k8s.io/v1beta1",
                              "resources":[{"name":"nodes","kind":"NodeMetrics","verbs":["get"]}]})"
                         : R"({"kind":"Theirs"})");
  };
  t.server->post(api_services,
                 R"({"metadata":{"name":"v1beta1.metrics.k8s.io"},"spec":{"group":"metrics.k8s.io",
      "version":"v1beta1","groupPriorityMinimum":100,"versionPriority":100,
      "insecureSkipTLSVerify":true,"service":{"namespace":"default","name":"ext"}}})");
  REQUIRE(rest_test::eventually([&] { return t.server->get(path).at("kind") == "Theirs"; }));
  t.server->remove(api_services + "/v1beta1.metrics.k8s.io");
  REQUIRE(
      rest_test::eventually([&] { return t.server->get(path).at("kind") == "NodeMetricsList"; }));
}

TEST_CASE("a group that is built in is not handed to another server") {
  aggregation_stage t;
  t.serve();
  t.server->remove(api_services + "/v1.apps");
  t.register_api(t.bundle(), "apps");
  REQUIRE(t.comes_to("ServedLocally", "apps"));
  CHECK(t.server->get("/apis/apps/v1/deployments").at("kind") == "DeploymentList");
}

TEST_CASE("an invalid or too long list of resources adds nothing to discovery") {
  aggregation_stage t;
  t.serve();
  std::string list =
      R"({"kind":"APIResourceList","groupVersion":"ext.example.com/v1","resources":[)";
  for (int i = 0; i < 1001; ++i)
    list += fmt::format("{}{{\"name\":\"r{}\"}}", i == 0 ? "" : ",", i);
  for (const auto& lie : {list + "]}", std::string{"[]"}, std::string{"{\"kind\":"},
                          std::string{R"({"kind":"APIResourceList","groupVersion":"apps/v1",
                                         "resources":[{"name":"deployments"}]})"}}) {
    t.backend->respond = [&](const std::string&) { return answer_of(lie); };
    REQUIRE(t.register_api(t.bundle()).status == 201);
    REQUIRE(t.comes_to("Passed"));
    CHECK_THAT(t.server->get("/apis", aggregated).text(),
               Contains(R"({"version":"v1","resources":[],"freshness":"Stale"})"));
    t.server->remove(api_services + "/v1.ext.example.com");
  }
  t.backend->respond = [&](const std::string&) { return answer_of(std::string(2u << 20, 'x')); };
  REQUIRE(t.register_api(t.bundle()).status == 201);
  REQUIRE(t.comes_to("FailedDiscoveryCheck"));
  CHECK_THAT(t.condition("message"), Contains("the answer is larger than 1048576 bytes"));
  // A redirect is a normal response: the server does not follow it.
  t.backend->respond = [&](const std::string&) {
    return std::string{"HTTP/1.1 302 Found\r\nLocation: https://elsewhere/\r\n\r\n"};
  };
  REQUIRE(rest_test::eventually(
      [&] { return t.condition("message").find("bad status") != std::string::npos; }));
}

TEST_CASE("OpenAPI v2 contains another server's paths of its version, in both forms") {
  aggregation_stage t;
  t.serve();
  t.backend->respond = [&](const std::string& request) {
    if (!request.starts_with("GET /openapi/v2 ")) return t.respond(request);
    return answer_of(R"({"swagger":"2.0","paths":{"/apis/ext.example.com/v1/things":{"post":{
        "parameters":[{"in":"query","name":"dryRun","type":"string"}],
        "x-kubernetes-action":"post","responses":{"200":{"schema":
        {"$ref":"#/definitions/com.example.ext.Thing"}}}}},
        "/apis/elsewhere/v1/things":{}},
      "definitions":{"com.example.ext.Thing":{"type":"object","description":"A thing.",
        "x-kubernetes-group-version-kind":
          [{"group":"ext.example.com","kind":"Thing","version":"v1"}]}}})");
  };
  const auto json = [&] { return t.server->get("/openapi/v2").text(); };
  const auto protobuf = [&] {
    return t.server
        ->get("/openapi/v2",
              {{"accept", "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"}})
        .text();
  };
  CHECK_THAT(json(), !Contains("com.example.ext.Thing"));
  t.register_api(t.bundle());
  REQUIRE(rest_test::eventually(
      [&] { return json().find("\"com.example.ext.Thing\":") != std::string::npos; }));
  CHECK_THAT(json(), Contains("\"/apis/ext.example.com/v1/things\":{\"post\":") &&
                         Contains("io.k8s.api.core.v1.Pod") && !Contains("/apis/elsewhere"));
  CHECK_THAT(protobuf(), Contains("com.example.ext.Thing") && Contains("A thing.") &&
                             Contains("/apis/ext.example.com/v1/things") &&
                             Contains("io.k8s.api.core.v1.Pod"));
  CHECK_THAT(t.backend->received(),
             Contains("GET /openapi/v2 ") && Contains("x-remote-user: system:aggregator\r\n"));
  t.server->remove(api_services + "/v1.ext.example.com");
  CHECK(rest_test::eventually(
      [&] { return json().find("com.example.ext.Thing") == std::string::npos; }));
}
