// Authorization, limits of concurrent requests, and paths that auth_filter answers without the API.
#include <catch2/catch.hpp>
#include <mutex>

#include "server/fixtures/auth_filter_fixture.hpp"

using namespace troupe;
using namespace troupe::server::testing;
using test::http_client;

TEST_CASE("without credentials only health and version are answered") {
  filtered_server server;
  for (const auto* path : {"/healthz", "/livez", "/readyz", "/version"})
    CHECK(server.get(path).status == 200);
  for (const auto* path : {"/", "/api", "/apis", "/api/v1/pods", "/metrics", "/openapi/v2",
                           "/healthzz", "/version2", "/api/v1/secrets", "/livez/ping"}) {
    const auto answer = server.get(path);
    CHECK(answer.status == 403);
    CHECK(answer.header("content-type") == "application/json");
    CHECK(answer.body.find("\"kind\":\"Status\",\"apiVersion\":\"v1\"") != std::string::npos);
  }
  CHECK(server.get("/api/v1/pods").body ==
        "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\","
        "\"message\":\"pods is forbidden: User \\\"system:anonymous\\\" cannot list resource "
        "\\\"pods\\\" in API group \\\"\\\" at the cluster scope\",\"reason\":\"Forbidden\","
        "\"details\":{\"kind\":\"pods\"},\"code\":403}\n");
  CHECK(server.api.served == 0);
}

TEST_CASE("without anonymous access every path needs credentials") {
  const server::authenticator users{{std::make_shared<named_tokens>()}, false};
  server::request head;
  head.connection = std::make_shared<server::connection_info>();
  const auto nobody = users.authenticate(head);
  REQUIRE_FALSE(nobody);
  CHECK(nobody.error().code == 401);
  head.headers.add("authorization", "Bearer plain-token");
  const auto joe = users.authenticate(head);
  REQUIRE(joe);
  CHECK((*joe)->name == "joe");
}

TEST_CASE("only reading of the public paths is public") {
  filtered_server server;
  http_client client{server.client()};
  CHECK(client.request("POST", "/healthz", "x").status == 403);
  CHECK(client.get("/healthz").status == 200);
}

TEST_CASE(
    "a refused request with a short body keeps its connection, one with a long body loses it") {
  filtered_server server;
  http_client client{server.client()};
  CHECK(client.request("POST", "/api/v1/pods", std::string(200'000, 'x')).status == 403);
  CHECK(client.get("/healthz").status == 200);
  CHECK(client.request("POST", "/api/v1/pods", std::string(300'000, 'x')).status == 403);
  CHECK(client.connection().wait_for_end());
  CHECK(server.server.stats().accepted == 1);
}

TEST_CASE("a bearer token names the user; a wrong one is a 401 even for public paths") {
  filtered_server server;
  CHECK(server.get("/api/v1/pods", "master-token").body == "root list");
  CHECK(server.get("/api/v1/pods", "plain-token").body == "joe list");
  CHECK(server.get("/api/v1/pods", "wrong").status == 401);
  CHECK(server.get("/healthz", "wrong").status == 401);
  http_client client{server.client()};
  CHECK(client.get("/api/v1/pods", {{"Authorization", "bEaReR  plain-token"}}).status == 200);
  CHECK(client.get("/healthz", {{"Authorization", "Basic am9lOmpvZQ=="}}).status == 401);
  http_client again{server.client()};
  CHECK(again.get("/healthz", {{"Authorization", "Bearer"}}).status == 401);
}

TEST_CASE(
    "an authenticated user sees discovery and permitted paths, else a 403 with upstream's "
    "message") {
  filtered_server server;
  CHECK(server.get("/api", "plain-token").status == 404);  // allowed; but the path is unknown
  CHECK(server.get("/openapi/v3", "plain-token").status == 404);
  const auto refused =
      server.get("/apis/apps/v1/namespaces/default/deployments/web", "plain-token");
  CHECK(refused.status == 403);
  CHECK(refused.body.find("deployments.apps \\\"web\\\" is forbidden: User \\\"joe\\\" cannot get "
                          "resource \\\"deployments\\\" in API group \\\"apps\\\" in the namespace "
                          "\\\"default\\\"") != std::string::npos);
  CHECK(refused.body.find("\"details\":{\"name\":\"web\",\"group\":\"apps\","
                          "\"kind\":\"deployments\"}") != std::string::npos);
  const auto cluster = server.get("/api/v1/nodes", "plain-token");
  CHECK(cluster.body.find("cannot list resource \\\"nodes\\\" in API group \\\"\\\" at the cluster "
                          "scope") != std::string::npos);
  const auto path = server.get("/metrics", "plain-token");
  CHECK(path.body.find("forbidden: User \\\"joe\\\" cannot get path \\\"/metrics\\\"") !=
        std::string::npos);
  http_client writer{server.client()};
  CHECK(writer.request("POST", "/api/v1/pods", "{}", filtered_server::headers("plain-token"))
            .status == 403);
}

TEST_CASE("masters may do everything, before any authorizer denies it") {
  filtered_server server;
  CHECK(server.get("/api/v1/secrets", "master-token").status == 404);
  CHECK(server.get("/api/v1/secrets", "plain-token").status == 403);
}

TEST_CASE("more requests in flight than allowed are a 429 with Retry-After; watches do not count") {
  std::mutex keeping;  // called on several threads
  std::vector<server::responder> held;
  filtered_server server{2, 1};
  for (const auto* path : {"/api/v1/nodes", "/api/v1/services"})
    server.api.on(path, [&](auto&, auto& answer) {
      std::lock_guard lock{keeping};
      held.push_back(answer);
    });
  const auto headers = filtered_server::headers("master-token");
  std::vector<std::unique_ptr<http_client>> busy;
  const auto occupy = [&](const char* method, const std::string& path) {
    busy.push_back(std::make_unique<http_client>(server.client()));
    busy.back()->send_request(method, path, {}, headers);
  };
  occupy("GET", "/api/v1/nodes");
  occupy("GET", "/api/v1/nodes");
  REQUIRE(eventually([&] { return server.api.served == 2; }));
  const auto refused = server.get("/api/v1/pods", "master-token");
  CHECK(refused.status == 429);
  CHECK(refused.header("retry-after") == "1");
  CHECK(refused.body.find("\"reason\":\"TooManyRequests\"") != std::string::npos);
  CHECK(refused.body.find("\"retryAfterSeconds\":1") != std::string::npos);
  CHECK(server.get("/readyz").status == 200);
  CHECK(server.get("/api/v1/pods?watch=true", "master-token").body == "root watch");

  http_client writer{server.client()};
  CHECK(writer.request("POST", "/api/v1/pods", "{}", headers).status == 200);
  occupy("POST", "/api/v1/services");
  REQUIRE(eventually([&] { return server.api.served == 5; }));
  CHECK(writer.request("POST", "/api/v1/pods", "{}", headers).status == 429);

  busy.clear();  // clients disconnect: their places are free although their requests are unanswered
  CHECK(eventually(
      [&] { return server.in_flight_.reads() == 0 && server.in_flight_.writes() == 0; }));
  CHECK(server.get("/api/v1/pods", "master-token").status == 200);
}

TEST_CASE("health says ok, lists its checks when asked, and withholds reasons") {
  filtered_server server;
  std::atomic<bool> well{true};
  server.health.add("store", server::health_checks::kind::live,
                    [] { return std::optional<std::string>{}; });
  server.health.add("leader", server::health_checks::kind::ready,
                    [&]() -> std::optional<std::string> {
                      if (well) return std::nullopt;
                      return "the secret reason";
                    });
  CHECK(server.get("/readyz").body == "ok");
  CHECK(server.get("/readyz?verbose").body ==
        "[+]ping ok\n[+]log ok\n[+]store ok\n[+]leader ok\nreadyz check passed\n");
  CHECK(server.get("/livez?verbose").body ==
        "[+]ping ok\n[+]log ok\n[+]store ok\nlivez check passed\n");
  well = false;
  const auto failed = server.get("/readyz");
  CHECK(failed.status == 500);
  CHECK(failed.body ==
        "[+]ping ok\n[+]log ok\n[+]store ok\n[-]leader failed: reason withheld\nreadyz check "
        "failed\n");
  CHECK(server.get("/livez").status == 200);
  CHECK(server.get("/healthz").status == 500);
  CHECK(server.get("/readyz?exclude=leader").body == "ok");
  CHECK(server.get("/readyz?verbose&exclude=leader&exclude=x").body ==
        "[+]ping ok\n[+]log ok\n[+]store ok\n[+]leader excluded: ok\n"
        "warn: some health checks cannot be excluded: no matches for \"x\"\n"
        "readyz check passed\n");
  CHECK(
      server.get("/livez?verbose&exclude=y&exclude=x").body.find("no matches for \"x\",\"y\"\n") !=
      std::string::npos);
}

TEST_CASE("each health check has a path of its own, for users who may read it") {
  filtered_server server;
  server.health.add("hook/a/b", server::health_checks::kind::live,
                    [] { return std::optional<std::string>{}; });
  server.health.add("leader", server::health_checks::kind::ready,
                    [] { return std::optional<std::string>{"no leader"}; });
  const auto get = [&](const std::string& path) { return server.get(path, "master-token"); };
  for (const auto* path : {"/livez/ping", "/readyz/log?verbose", "/healthz/hook/a/b"})
    CHECK(get(path).body == "ok");
  CHECK(server.get("/livez/leader", "plain-token").status == 403);
  for (const auto* path : {"/livez/leader", "/readyz/leader"}) {
    CHECK(get(path).status == 500);
    CHECK(get(path).body == "internal server error: no leader\n");
  }
  for (const auto* path : {"/livez/", "/livez/nothing", "/readyz/hook/a"}) {
    CHECK(get(path).status == 404);
    CHECK(get(path).body == "404 page not found\n");
    CHECK(get(path).header("content-type") == "text/plain; charset=utf-8");
  }
}

TEST_CASE("a health check that throws is a failing check") {
  filtered_server server;
  server.health.add("bad", server::health_checks::kind::live,
                    []() -> std::optional<std::string> { throw std::runtime_error("on purpose"); });
  CHECK(server.get("/livez").status == 500);
}

TEST_CASE("the version document has the fields that clients read") {
  filtered_server server;
  const auto answer = server.get("/version?timeout=32s");
  CHECK(answer.header("content-type") == "application/json");
  CHECK(answer.body.find("\"major\": \"1\",\n  \"minor\": \"33\"") != std::string::npos);
  CHECK(answer.body.find("\"gitVersion\": \"v1.33.0+troupe-") != std::string::npos);
}
