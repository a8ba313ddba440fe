// Who may do what, how much at once, and what is answered without any API behind the gate.
#include <catch2/catch.hpp>
#include <mutex>

#include "server/gated_server.hpp"

using namespace troupe;
using namespace troupe::server::testing;
using test::http_client;

TEST_CASE("without credentials only health and version are answered") {
  gated_server gated;
  for (const auto* path : {"/healthz", "/livez", "/readyz", "/version", "/livez/ping"})
    CHECK(gated.get(path).status == 200);
  for (const auto* path : {"/", "/api", "/apis", "/api/v1/pods", "/metrics", "/openapi/v2",
                           "/healthzz", "/version2", "/api/v1/secrets"}) {
    const auto answer = gated.get(path);
    CHECK(answer.status == (std::string(path) == "/api/v1/secrets" ? 403 : 401));
    CHECK(answer.header("content-type") == "application/json");
    CHECK(answer.body.find("\"kind\":\"Status\",\"apiVersion\":\"v1\"") != std::string::npos);
  }
  CHECK(gated.get("/api/v1/pods").body ==
        "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\","
        "\"message\":\"Unauthorized\",\"reason\":\"Unauthorized\",\"code\":401}\n");
  CHECK(gated.api.served == 0);
}

TEST_CASE("only reading of the public paths is public") {
  gated_server gated;
  http_client client{gated.client()};
  CHECK(client.request("POST", "/healthz", "x").status == 401);
  CHECK(client.get("/healthz").status == 200);
}

TEST_CASE(
    "a refused request with a short body keeps its connection, one with a long body loses it") {
  gated_server gated;
  http_client client{gated.client()};
  CHECK(client.request("POST", "/api/v1/pods", std::string(200'000, 'x')).status == 401);
  CHECK(client.get("/healthz").status == 200);
  CHECK(client.request("POST", "/api/v1/pods", std::string(300'000, 'x')).status == 401);
  CHECK(client.connection().wait_for_end());
  CHECK(gated.server.stats().accepted == 1);
}

TEST_CASE("a bearer token names the user; a wrong one is a 401 even for public paths") {
  gated_server gated;
  CHECK(gated.get("/api/v1/pods", "master-token").body == "root list");
  CHECK(gated.get("/api/v1/pods", "plain-token").body == "joe list");
  CHECK(gated.get("/api/v1/pods", "wrong").status == 401);
  CHECK(gated.get("/healthz", "wrong").status == 401);
  http_client client{gated.client()};
  CHECK(client.get("/api/v1/pods", {{"Authorization", "bEaReR  plain-token"}}).status == 200);
  CHECK(client.get("/healthz", {{"Authorization", "Basic am9lOmpvZQ=="}}).status == 401);
  http_client again{gated.client()};
  CHECK(again.get("/healthz", {{"Authorization", "Bearer"}}).status == 401);
}

TEST_CASE(
    "a known user sees discovery and what an authorizer allows, else 403 in upstream's words") {
  gated_server gated;
  CHECK(gated.get("/api", "plain-token").status == 404);  // let through; the test's API has it not
  CHECK(gated.get("/openapi/v3", "plain-token").status == 404);
  const auto refused = gated.get("/apis/apps/v1/namespaces/default/deployments/web", "plain-token");
  CHECK(refused.status == 403);
  CHECK(refused.body.find("deployments.apps \\\"web\\\" is forbidden: User \\\"joe\\\" cannot get "
                          "resource \\\"deployments\\\" in API group \\\"apps\\\" in the namespace "
                          "\\\"default\\\"") != std::string::npos);
  CHECK(refused.body.find("\"details\":{\"name\":\"web\",\"group\":\"apps\","
                          "\"kind\":\"deployments\"}") != std::string::npos);
  const auto cluster = gated.get("/api/v1/nodes", "plain-token");
  CHECK(cluster.body.find("cannot list resource \\\"nodes\\\" in API group \\\"\\\" at the cluster "
                          "scope") != std::string::npos);
  const auto path = gated.get("/metrics", "plain-token");
  CHECK(path.body.find("forbidden: User \\\"joe\\\" cannot get path \\\"/metrics\\\"") !=
        std::string::npos);
  http_client writer{gated.client()};
  CHECK(writer.request("POST", "/api/v1/pods", "{}", gated_server::headers("plain-token")).status ==
        403);
}

TEST_CASE("masters may do everything, before any authorizer denies it") {
  gated_server gated;
  CHECK(gated.get("/api/v1/secrets", "master-token").status == 404);
  CHECK(gated.get("/api/v1/secrets", "plain-token").status == 403);
}

TEST_CASE("more requests in flight than allowed are a 429 with Retry-After; watches do not count") {
  std::mutex keeping;  // they come on several threads
  std::vector<server::responder> kept;
  gated_server gated{2, 1};
  for (const auto* path : {"/api/v1/nodes", "/api/v1/services"})
    gated.api.on(path, [&](auto&, auto& answer) {
      std::lock_guard lock{keeping};
      kept.push_back(answer);
    });
  const auto headers = gated_server::headers("master-token");
  std::vector<std::unique_ptr<http_client>> busy;
  const auto occupy = [&](const char* method, const std::string& path) {
    busy.push_back(std::make_unique<http_client>(gated.client()));
    busy.back()->send_request(method, path, {}, headers);
  };
  occupy("GET", "/api/v1/nodes");
  occupy("GET", "/api/v1/nodes");
  REQUIRE(eventually([&] { return gated.api.served == 2; }));
  const auto refused = gated.get("/api/v1/pods", "master-token");
  CHECK(refused.status == 429);
  CHECK(refused.header("retry-after") == "1");
  CHECK(refused.body.find("\"reason\":\"TooManyRequests\"") != std::string::npos);
  CHECK(refused.body.find("\"retryAfterSeconds\":1") != std::string::npos);
  CHECK(gated.get("/readyz").status == 200);
  CHECK(gated.get("/api/v1/pods?watch=true", "master-token").body == "root watch");

  http_client writer{gated.client()};
  CHECK(writer.request("POST", "/api/v1/pods", "{}", headers).status == 200);
  occupy("POST", "/api/v1/services");
  REQUIRE(eventually([&] { return gated.api.served == 5; }));
  CHECK(writer.request("POST", "/api/v1/pods", "{}", headers).status == 429);

  busy.clear();  // the clients go: their places are free although nobody has answered
  CHECK(eventually([&] { return gated.room.reads() == 0 && gated.room.writes() == 0; }));
  CHECK(gated.get("/api/v1/pods", "master-token").status == 200);
}

TEST_CASE("health says ok, lists its checks when asked, and withholds reasons") {
  gated_server gated;
  std::atomic<bool> well{true};
  gated.health.add("store", server::health_checks::kind::live,
                   [] { return std::optional<std::string>{}; });
  gated.health.add("leader", server::health_checks::kind::ready,
                   [&]() -> std::optional<std::string> {
                     if (well) return std::nullopt;
                     return "the secret reason";
                   });
  CHECK(gated.get("/readyz").body == "ok");
  CHECK(gated.get("/readyz?verbose").body ==
        "[+]ping ok\n[+]store ok\n[+]leader ok\nreadyz check passed\n");
  CHECK(gated.get("/livez?verbose").body == "[+]ping ok\n[+]store ok\nlivez check passed\n");
  well = false;
  const auto failed = gated.get("/readyz");
  CHECK(failed.status == 500);
  CHECK(failed.body ==
        "[+]ping ok\n[+]store ok\n[-]leader failed: reason withheld\nreadyz check failed\n");
  CHECK(gated.get("/livez").status == 200);
  CHECK(gated.get("/healthz").status == 500);
  CHECK(gated.get("/readyz?exclude=leader").body == "ok");
  CHECK(gated.get("/readyz?verbose&exclude=leader&exclude=x").body ==
        "[+]ping ok\n[+]store ok\n[+]leader excluded: ok\n"
        "warn: some health checks cannot be excluded: no matches for \"x\"\n"
        "readyz check passed\n");
  CHECK(gated.get("/readyz/store").body == "ok");
  CHECK(gated.get("/readyz/leader").status == 500);
  CHECK(gated.get("/livez/leader").status == 404);
}

TEST_CASE("a health check that throws is a failing check") {
  gated_server gated;
  gated.health.add("bad", server::health_checks::kind::live,
                   []() -> std::optional<std::string> { throw std::runtime_error("on purpose"); });
  CHECK(gated.get("/livez").status == 500);
}

TEST_CASE("the version document has what clients read") {
  gated_server gated;
  const auto answer = gated.get("/version?timeout=32s");
  CHECK(answer.header("content-type") == "application/json");
  CHECK(answer.body.find("\"major\": \"1\",\n  \"minor\": \"33\"") != std::string::npos);
  CHECK(answer.body.find("\"gitVersion\": \"v1.33.0+troupe-") != std::string::npos);
}
