// APIs that other servers serve: who is asked, with which words, and what clients see of it.
#include <fmt/format.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <mutex>
#include <optional>

#include "actors/core/metric_questions.hpp"
#include "api/values/base64.hpp"
#include "server/credentials/front_proxy.hpp"
#include "server/credentials/pki.hpp"
#include "server/credentials/tls_identity.hpp"
#include "server/credentials/x509.hpp"
#include "server/fixtures/http_backend.hpp"
#include "server/fixtures/rest_fixture.hpp"
#include "server/rest/aggregation/metric_requests.hpp"
#include "server/rest/proxy/backend_request.hpp"
#include "support/scratch_folder.hpp"

using namespace troupe;
using namespace troupe::server::testing;
using Catch::Contains;

namespace {

const std::string api_services = "/apis/apiregistration.k8s.io/v1/apiservices";
const std::string root = "/apis/ext.example.com/v1";
const std::string things = root + "/namespaces/default/things";
const std::string pods = "/api/v1/namespaces/default/pods";
const std::string slices = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
const test::http_client::fields aggregated{
    {"accept",
     "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"}};

const std::string resources = R"({"kind":"APIResourceList","apiVersion":"v1",
  "groupVersion":"ext.example.com/v1","resources":[
  {"name":"things","singularName":"thing","namespaced":true,"kind":"Thing",
   "verbs":["create","get","list","watch"],"shortNames":["th"]},
  {"name":"things/status","singularName":"","namespaced":true,"kind":"Thing","verbs":["get"]}]})";

std::string answer_of(std::string_view body, std::string_view head = "200 OK") {
  return fmt::format(
      "HTTP/1.1 {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{}", head,
      body.size(), body);
}

std::string in_base64(std::string_view text) {
  std::string out;
  api::append_base64(out, text);
  return out;
}

// A server of ext.example.com/v1 in a pod, and the API in front of it.
struct aggregation_test {
  test::scratch_folder folder;
  const std::unique_ptr<server::pki> keys =
      server::pki::open({folder.path() / "pki", {}}, std::chrono::system_clock::now()).value();
  const server::x509::validity valid{std::chrono::system_clock::now() - std::chrono::hours{1},
                                     std::chrono::system_clock::now() + std::chrono::hours{1}};
  const server::x509::identity authority = server::x509::make_authority("extension", valid).value();
  const std::shared_ptr<server::front_proxy> front = std::make_shared<server::front_proxy>();
  const std::shared_ptr<http_backend> backend = std::make_shared<http_backend>();
  std::atomic<bool> fails{false};
  std::optional<rest_test> server;

  explicit aggregation_test(const std::string& name = "ext.default.svc") {
    front->replace(keys->front_proxy());
    const auto shown = server::x509::issue(authority, {"a server", {}, {name}, valid}).value();
    backend->tls = server::tls_identity::make(
                       {shown.certificate, shown.private_key, front->credentials().authority})
                       .value()
                       ->context();
    backend->respond = [this](const std::string& request) { return respond(request); };
    server.emplace(rest_test_options{.rest = {.streams = backend, .front_proxy = front}});
    server->create_pod("web");
    server->post(pods + "/web/binding", R"({"target":{"kind":"Node","name":"n1"}})");
  }

  std::string respond(const std::string& request) const {
    if (fails) return answer_of("{}", "500 Internal Server Error");
    if (request.starts_with("GET " + root + " ")) return answer_of(resources);
    return answer_of(R"({"kind":"Thing","said":"here"})");
  }

  void serve() {
    server->post("/api/v1/namespaces/default/services",
                 R"({"metadata":{"name":"ext"},"spec":{"ports":[{"port":443}]}})");
    const auto uid = server->get(pods + "/web").at("metadata.uid");
    CHECK(server
              ->post(slices, fmt::format(
                                 R"({{"metadata":{{"name":"ext-1","labels":
            {{"kubernetes.io/service-name":"ext"}}}},"addressType":"IPv4",
            "ports":[{{"name":"","port":8443,"protocol":"TCP"}}],"endpoints":[
            {{"addresses":["10.0.0.7"],"targetRef":{{"kind":"Pod","name":"web",
            "namespace":"default","uid":"{}"}}}}]}})",
                                 uid))
              .status == 201);
  }

  rest_answer register_api(const std::string& trust, const std::string& group = "ext.example.com",
                           int priority = 2000) {
    return server->post(
        api_services,
        fmt::format(R"({{"metadata":{{"name":"v1.{}"}},"spec":{{"group":"{}","version":"v1",
          "groupPriorityMinimum":{},"versionPriority":15,
          "service":{{"namespace":"default","name":"ext"}},{}}}}})",
                    group, group, priority, trust));
  }
  std::string bundle() const { return R"("caBundle":")" + in_base64(authority.certificate) + "\""; }

  std::string condition(std::string_view member, const std::string& group = "ext.example.com") {
    return server->get(api_services + "/v1." + group)
        .at("status.conditions.0." + std::string{member});
  }
  bool comes_to(const std::string& reason, const std::string& group = "ext.example.com") {
    return rest_test::eventually([&] { return condition("reason", group) == reason; });
  }
};

}  // namespace

TEST_CASE("an API service is available once its server answers, and until it fails") {
  aggregation_test t;
  const auto made = t.register_api(t.bundle());
  REQUIRE(made.status == 201);
  CHECK_FALSE(made.headers.contains("warning"));
  REQUIRE(t.comes_to("ServiceNotFound"));
  CHECK(t.condition("message") == "service/ext in \"default\" is not present");
  t.server->post("/api/v1/namespaces/default/services",
                 R"({"metadata":{"name":"ext"},"spec":{"ports":[{"port":80}]}})");
  REQUIRE(t.comes_to("ServicePortError"));
  CHECK(t.condition("message") == "service/ext in \"default\" is not listening on port 443");
  t.server->remove("/api/v1/namespaces/default/services/ext");
  REQUIRE(t.comes_to("ServiceNotFound"));
  t.server->post("/api/v1/namespaces/default/services",
                 R"({"metadata":{"name":"ext"},"spec":{"ports":[{"port":443}]}})");
  REQUIRE(t.comes_to("EndpointsNotFound"));
  CHECK(t.condition("message") == "cannot find endpointslices for service/ext in \"default\"");
  t.server->post(slices, R"({"metadata":{"name":"ext-0","labels":
      {"kubernetes.io/service-name":"ext"}},"addressType":"IPv4","endpoints":[]})");
  REQUIRE(t.comes_to("MissingEndpoints"));
  CHECK(t.server->get(root).status == 503);
  CHECK(t.server->get(root).text() == "service unavailable\n");
  t.serve();
  REQUIRE(t.comes_to("Passed"));
  CHECK(t.condition("status") == "True");
  CHECK(t.condition("message") == "all checks passed");
  CHECK_THAT(t.backend->received(), Contains("x-remote-user: system:kube-aggregator\r\n") &&
                                        Contains("x-remote-group: system:masters\r\n"));
  t.fails = true;
  // A change of its endpoints is a reason to look.
  t.server->patch(slices + "/ext-1", "merge", R"({"metadata":{"annotations":{"a":"b"}}})");
  REQUIRE(t.comes_to("FailedDiscoveryCheck"));
  CHECK(t.condition("message") == "failing or missing response from https://10.0.0.7:8443" + root +
                                      ": bad status from https://10.0.0.7:8443" + root + ": 500");
  CHECK(t.server->get(things).status == 503);
  t.fails = false;
  REQUIRE(t.comes_to("Passed"));
}

TEST_CASE("a request of an aggregated API reaches its server with the user in its headers") {
  aggregation_test t;
  t.serve();
  t.register_api(t.bundle());
  REQUIRE(t.comes_to("Passed"));
  const auto got = t.server->request("POST", things + "?dryRun=All", R"({"kind":"Thing"})",
                                     {{"Authorization", "Bearer secret"},
                                      {"X-Remote-User", "root"},
                                      {"X-Remote-Group", "all"},
                                      {"X-Remote-Extra-Scopes", "all"},
                                      {"X_Remote_User", "root"},
                                      {"X-Mine", "kept"}});
  CHECK(got.status == 200);
  CHECK(got.at("said") == "here");
  const auto all = t.backend->received();
  const auto sent = all.substr(all.rfind("POST "));
  CHECK_THAT(sent, Catch::StartsWith("POST " + things + "?dryRun=All HTTP/1.1\r\n"));
  CHECK_THAT(sent, Contains("x-remote-user: admin\r\n") &&
                       Contains("x-remote-group: system:masters\r\n") &&
                       Contains("host: ext.default.svc:443\r\n") && Contains("x-mine: kept\r\n"));
  CHECK_THAT(sent, !Contains("root") && !Contains("x-remote-group: all") && !Contains("secret") &&
                       !Contains("scopes"));
  CHECK_THAT(sent, Contains("\r\n\r\n{\"kind\":\"Thing\"}"));
  CHECK(t.backend->verified() >= 2);  // the check, and this
  CHECK(t.backend->port() == 8443);
}

TEST_CASE("a path does not lead out of an aggregated API") {
  aggregation_test t;
  t.serve();
  t.register_api(t.bundle());
  REQUIRE(t.comes_to("Passed"));
  for (const std::string out : {"/../../../api/v1/secrets", "/%2e%2e/x", "/things/%2E/x", "/.."}) {
    CAPTURE(out);
    CHECK(t.server->get(root + out).status == 400);
  }
  // An encoded end of line stays encoded.
  CHECK(t.server->get(root + "/a%0d%0aX-Remote-User:%20root").status == 200);
  const auto all = t.backend->received();
  CHECK_THAT(all, !Contains("\r\nX-Remote-User: root") && !Contains("secrets"));
  // Another version is nobody's.
  CHECK(t.server->get("/apis/ext.example.com/v10/things").status == 404);
}

TEST_CASE("a server with a certificate of another name or authority is not trusted") {
  aggregation_test t{"other.default.svc"};
  t.serve();
  t.register_api(t.bundle());
  REQUIRE(t.comes_to("FailedDiscoveryCheck"));
  CHECK_THAT(t.condition("message"),
             Contains("tls: failed to verify certificate: x509: certificate is not valid for "
                      "ext.default.svc"));
  const auto update = [&](const std::string& trust) {
    t.server->remove(api_services + "/v1.ext.example.com");
    REQUIRE(t.register_api(trust).status == 201);
  };
  update(R"("caBundle":")" + in_base64(t.keys->authority()) + "\"");
  REQUIRE(rest_test::eventually([&] {
    return t.condition("message").find("certificate signed by unknown authority") !=
           std::string::npos;
  }));
  update(R"("caBundle":"bm9uZQ==")");
  REQUIRE(rest_test::eventually([&] {
    return t.condition("message").find("unable to parse bytes as PEM block") != std::string::npos;
  }));
  update(R"("insecureSkipTLSVerify":true)");
  REQUIRE(t.comes_to("Passed"));
  CHECK(t.server->get(things).at("said") == "here");
}

TEST_CASE("discovery lists an aggregated API by its priority, and keeps it while it is stale") {
  aggregation_test t;
  const auto before = t.server->get("/apis", aggregated).text();
  t.serve();
  t.register_api(t.bundle());
  REQUIRE(t.comes_to("Passed"));
  const auto document = [&] { return t.server->get("/apis", aggregated); };
  // Above custom kinds, below all that is built in.
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

TEST_CASE("a watch of an aggregated API streams, and a server that changes protocol may") {
  aggregation_test t;
  t.serve();
  t.register_api(t.bundle());
  REQUIRE(t.comes_to("Passed"));
  t.backend->keeps = true;
  t.backend->respond = [](const std::string&) {
    return std::string{
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
        "Transfer-Encoding: chunked\r\n\r\n"};
  };
  watching events{t.server->where(), things + "?watch=true"};
  CHECK(events.status() == 200);
  for (const std::string type : {"ADDED", "DELETED"}) {
    const auto line = R"({"type":")" + type + "\"}\n";
    t.backend->say(fmt::format("{:x}\r\n{}\r\n", line.size(), line));
    const auto got = events.next();
    REQUIRE(got);
    CHECK(got->at("type") == type);
  }
}

TEST_CASE("metrics of another server take the place of our own, and leave it again") {
  aggregation_test t;
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
  aggregation_test t;
  t.serve();
  t.register_api(t.bundle(), "apps");
  REQUIRE(t.comes_to("ServedLocally", "apps"));
  CHECK(t.server->get("/apis/apps/v1/deployments").at("kind") == "DeploymentList");
}

TEST_CASE("a server whose list of resources is too long or no list adds nothing to discovery") {
  aggregation_test t;
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
  // A redirect is an answer like any other: nobody goes there.
  t.backend->respond = [&](const std::string&) {
    return std::string{"HTTP/1.1 302 Found\r\nLocation: https://elsewhere/\r\n\r\n"};
  };
  REQUIRE(rest_test::eventually(
      [&] { return t.condition("message").find("bad status") != std::string::npos; }));
}

TEST_CASE("who asks is written so that no name can end its field") {
  using server::front_fields_of;
  const auto fields = front_fields_of(
      {.name = "jane", .uid = "7", .groups = {"a", "b"}, .extra = {{"Example.com/Scope", {"x"}}}});
  REQUIRE(fields);
  CHECK(*fields == server::header_fields{{"x-remote-user", "jane"},
                                         {"x-remote-uid", "7"},
                                         {"x-remote-group", "a"},
                                         {"x-remote-group", "b"},
                                         {"x-remote-extra-Example.com%2FScope", "x"}});
  CHECK_FALSE(front_fields_of({"jane\r\nx-remote-group: system:masters", {}, {}}));
  CHECK_FALSE(front_fields_of({"jane", {}, {"a\n"}}));
}

TEST_CASE("a question of an autoscaler is a request of its metrics API") {
  using server::metric_target;
  using source = actors::metric_query::source;
  server::aggregated_api api;
  api.group = "custom.metrics.k8s.io";
  api.version = "v1beta2";
  const std::string base = "/apis/custom.metrics.k8s.io/v1beta2";
  CHECK(metric_target(api, {.of = source::pods,
                            .ns = "default",
                            .name = "hits/s",
                            .selector = "a=b",
                            .pods = "app in (x,y)"}) ==
        base +
            "/namespaces/default/pods/*/hits%2Fs?labelSelector=app%20in%20%28x%2Cy%29"
            "&metricLabelSelector=a%3Db");
  CHECK(metric_target(api, {.of = source::object,
                            .ns = "default",
                            .name = "hits",
                            .resource = "ingresses.networking.k8s.io",
                            .object = "main"}) ==
        base + "/namespaces/default/ingresses.networking.k8s.io/main/hits");
  CHECK(metric_target(api, {.of = source::object,
                            .ns = "default",
                            .name = "hits",
                            .resource = "nodes",
                            .object = "n1",
                            .namespaced = false}) == base + "/nodes/n1/hits");
  CHECK(metric_target(api, {.of = source::object,
                            .ns = "default",
                            .name = "hits",
                            .resource = "namespaces",
                            .object = "default",
                            .namespaced = false}) == base + "/namespaces/default/metrics/hits");
  api.group = "external.metrics.k8s.io";
  api.version = "v1beta1";
  CHECK(metric_target(api, {.of = source::external, .ns = "default", .name = "queue"}) ==
        "/apis/external.metrics.k8s.io/v1beta1/namespaces/default/queue");
}

TEST_CASE("what a metrics API answers is read, or said why not") {
  using source = actors::metric_query::source;
  const auto read = [](source of, int status, const std::string& body) {
    return server::read_metrics({.of = of}, server::fetch_answer{status, body});
  };
  const std::string list = R"({"items":[{"describedObject":{"kind":"Pod","name":"p0"},
      "metric":{"name":"hits"},"timestamp":"2023-11-14T22:13:20Z","windowSeconds":30,
      "value":"1500m"}]})";
  const auto pods = read(source::pods, 200, list);
  REQUIRE(pods);
  CHECK(pods->front().object == "p0");
  CHECK(pods->front().milli == 1500);
  CHECK(pods->front().at == 1'700'000'000);
  CHECK(pods->front().window == 30);
  const auto usage = read(source::usage, 200, R"({"items":[{"metadata":{"name":"p0"},
      "timestamp":"2023-11-14T22:13:20Z","window":"15s",
      "containers":[{"name":"c","usage":{"cpu":"250m","memory":"1Mi"}}]}]})");
  REQUIRE(usage);
  CHECK(usage->front().container == "c");
  CHECK(usage->front().cpu_nano == 250'000'000);
  CHECK(usage->front().memory_bytes == 1u << 20);
  CHECK(usage->front().window == 15);
  CHECK(read(source::external, 200, R"({"items":[]})").error() ==
        "no metrics returned from external metrics API");
  CHECK(read(source::object, 200, R"({"items":[]})").error() ==
        "the custom metrics API server returned 0 results when we asked for exactly one");
  CHECK(read(source::pods, 403, R"({"kind":"Status","message":"pods is forbidden"})").error() ==
        "pods is forbidden");
  CHECK(read(source::pods, 500, "oops").error() == "the server responded with the status code 500");
  for (const auto* lie : {"", "[]", "{\"items\":7}", "{\"items\":[7,null]}"})
    CHECK_FALSE(read(source::pods, 200, lie));
}

TEST_CASE("an autoscaler's question goes to the server of its metrics API, as its account") {
  aggregation_test t;
  t.serve();
  t.backend->respond = [](const std::string& request) {
    const std::string base = "/apis/external.metrics.k8s.io/v1beta1";
    return answer_of(request.starts_with("GET " + base + " ")
                         ? R"({"kind":"APIResourceList",
                               "groupVersion":"external.metrics.k8s.io/v1beta1","resources":[]})"
                         : R"({"kind":"ExternalMetricValueList","items":[
                               {"metricName":"queue","value":"7"}]})");
  };
  struct answered {
    std::mutex mutex;
    std::optional<actors::metrics_told> told;
  };
  const auto ask = [&] {
    const auto into = std::make_shared<answered>();
    auto& system = t.server->plane().system();
    system.request<actors::metrics_told>(
        system.actors().find(actors::metrics_desk_kind, actors::metrics_desk_kind),
        actors::ask_metrics{
            {{.of = actors::metric_query::source::external, .ns = "default", .name = "queue"}}},
        std::chrono::seconds{10}, [into](const auto& told) {
          const std::lock_guard lock{into->mutex};
          into->told = told ? **told : actors::metrics_told{};
        });
    REQUIRE(rest_test::eventually([&] {
      const std::lock_guard lock{into->mutex};
      return into->told.has_value();
    }));
    REQUIRE(into->told->answers.size() == 1);
    return into->told->answers.front();
  };
  // Nobody serves it.
  CHECK(ask().error().empty());
  t.server->post(api_services,
                 fmt::format(R"({{"metadata":{{"name":"v1beta1.external.metrics.k8s.io"}},"spec":{{
      "group":"external.metrics.k8s.io","version":"v1beta1","groupPriorityMinimum":100,
      "versionPriority":100,"service":{{"namespace":"default","name":"ext"}},{}}}}})",
                             t.bundle()));
  REQUIRE(rest_test::eventually([&] {
    return t.server->get(api_services + "/v1beta1.external.metrics.k8s.io")
               .at("status.conditions.0.reason") == "Passed";
  }));
  const auto values = ask();
  REQUIRE(values);
  CHECK(values->front().milli == 7000);
  CHECK_THAT(t.backend->received(),
             Contains("x-remote-user: "
                      "system:serviceaccount:kube-system:horizontal-pod-autoscaler\r\n"));
}
