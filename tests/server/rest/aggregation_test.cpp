// APIs that other servers serve: when one is available, and the requests that reach it.
#include "server/connections/http_server.hpp"
#include "server/rest/aggregation_stage.hpp"
#include "server/rest/proxy/backend_request.hpp"

using namespace troupe;
using namespace troupe::server::testing;
using Catch::Contains;

TEST_CASE("an API service is available once its server answers, and until it fails") {
  aggregation_stage t;
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
  // A change of its endpoints causes a check.
  t.server->patch(slices + "/ext-1", "merge", R"({"metadata":{"annotations":{"a":"b"}}})");
  REQUIRE(t.comes_to("FailedDiscoveryCheck"));
  CHECK(t.condition("message") == "failing or missing response from https://10.0.0.7:8443" + root +
                                      ": bad status from https://10.0.0.7:8443" + root + ": 500");
  CHECK(t.server->get(things).status == 503);
  t.fails = false;
  REQUIRE(t.comes_to("Passed"));
}

TEST_CASE("a request of an aggregated API reaches its server with the user in its headers") {
  aggregation_stage t;
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
  aggregation_stage t;
  t.serve();
  t.register_api(t.bundle());
  REQUIRE(t.comes_to("Passed"));
  for (const std::string out : {"/../../../api/v1/secrets", "/%2e%2e/x", "/things/%2E/x", "/.."}) {
    CAPTURE(out);
    CHECK(t.server->get(root + out).status == 400);
  }
  // An encoded line end stays encoded.
  CHECK(t.server->get(root + "/a%0d%0aX-Remote-User:%20root").status == 200);
  const auto all = t.backend->received();
  CHECK_THAT(all, !Contains("\r\nX-Remote-User: root") && !Contains("secrets"));
  // Another version is not served.
  CHECK(t.server->get("/apis/ext.example.com/v10/things").status == 404);
}

TEST_CASE("a server with a certificate of another name or authority is not trusted") {
  aggregation_stage t{"other.default.svc"};
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

TEST_CASE("a watch of an aggregated API streams") {
  aggregation_stage t;
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

namespace {

// An external server, on a port of this machine.
class elsewhere final : public server::handler {
 public:
  void serve(server::request_ptr request, server::responder answer) override {
    server::response out;
    out.content_type = "application/json";
    out.content = server::body{request->path == root ? resources : R"({"said":"elsewhere"})"};
    answer.respond(std::move(out));
  }
};

}  // namespace

TEST_CASE("a server outside the cluster is reached by the name of its service") {
  aggregation_stage t;
  const auto shown =
      server::x509::issue(t.authority, {"a server", {}, {"ext.default.svc"}, t.valid}).value();
  const auto identity = server::tls_identity::make(
      {shown.certificate, shown.private_key, t.front->credentials().authority});
  elsewhere outside;
  server::http_server http{server::http_options{}};
  const auto bound = http.listen({"127.0.0.1", 0}, outside, identity->get());
  REQUIRE(bound);
  t.server->post("/api/v1/namespaces/default/services",
                 R"({"metadata":{"name":"ext"},"spec":{"type":"ExternalName",
                     "externalName":"localhost"}})");
  const auto register_at = [&](int port) {
    return t.server->post(api_services,
                          fmt::format(R"({{"metadata":{{"name":"v1.ext.example.com"}},"spec":{{
          "group":"ext.example.com","version":"v1","groupPriorityMinimum":2000,
          "versionPriority":15,"service":{{"namespace":"default","name":"ext","port":{}}},{}}}}})",
                                      port, t.bundle()));
  };
  REQUIRE(register_at(bound->port).status == 201);
  REQUIRE(t.comes_to("Passed"));
  CHECK(t.server->get(things).at("said") == "elsewhere");
  // The server stops between two checks.
  http.stop();
  const auto gone = t.server->get(things);
  CHECK(gone.status == 503);
  CHECK_THAT(gone.text(), Catch::StartsWith("error trying to reach service: dial tcp ") &&
                              Contains("connection refused"));
}

TEST_CASE("another protocol of an aggregated API goes both ways") {
  aggregation_stage t;
  t.serve();
  t.register_api(t.bundle());
  REQUIRE(t.comes_to("Passed"));
  t.backend->keeps = true;
  t.backend->respond = [](const std::string&) {
    return std::string{
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nhi"};
  };
  test::http_client client{t.server->where()};
  client.send_request("GET", things + "/one/console", {},
                      {{"Connection", "Upgrade"}, {"Upgrade", "websocket"}});
  CHECK(client.receive_head().status == 101);
  CHECK(client.receive_exactly(2) == "hi");
  t.backend->say("more");
  CHECK(client.receive_exactly(4) == "more");
  client.connection().send("as it is");
  CHECK(rest_test::eventually(
      [&] { return t.backend->received().find("as it is") != std::string::npos; }));
}

TEST_CASE("user fields for other servers are encoded so that no name can end its field") {
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
