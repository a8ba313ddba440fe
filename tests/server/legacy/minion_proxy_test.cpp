// Requests to a minion's kubelet of 2014 through the server.
#include <catch2/catch.hpp>
#include <string>

#include "server/fixtures/legacy_fixture.hpp"

using namespace troupe;
using namespace troupe::server::testing;

namespace {

constexpr const char* merge_patch = "application/merge-patch+json";

// The pod web, which is on n1.
std::string run_a_pod(legacy_test& api) {
  api.create_pod("web");
  const std::string pod = std::string{pods_of_today} + "/web";
  REQUIRE(api.post(pod + "/binding", R"({"target":{"kind":"Node","name":"n1"}})").status == 201);
  const auto patched = api.request(
      "PATCH", pod + "/status",
      R"({"status":{"containerStatuses":[{"name":"c","image":"i","imageID":"","ready":true,)"
      R"("restartCount":2,"containerID":"process://u/c/1",)"
      R"("state":{"running":{"startedAt":"2014-10-01T00:00:00Z"}},"lastState":{}}]}})",
      {{"content-type", merge_patch}});
  REQUIRE(patched.status == 200);
  return patched.at("metadata.uid");
}

}  // namespace

TEST_CASE("the state of a pod's containers is read through its minion") {
  legacy_test api;
  const auto uid = run_a_pod(api);
  // The last one is the path of v0.2.
  for (const std::string minion :
       {"/proxy/minions/n1", "//proxy/minions/n1", "//proxy/minion/n1"}) {
    INFO(minion);
    const auto info = api.old("GET", minion + "/podInfo?podID=web");
    REQUIRE(info.status == 200);
    CHECK(info.headers.at("content-type") == "application/json");
    CHECK(info.at("c.restartCount") == "2");
    CHECK(info.at("c.image") == "i");
    CHECK(info.at("c.state.running.startedAt") == "2014-10-01T00:00:00Z");
  }
  const std::string info = "/proxy/minions/n1/podInfo?podID=web";
  CHECK(api.old("GET", info + "&podNamespace=default&UUID=" + uid).status == 200);
  for (const std::string other : {"&podNamespace=other", "&UUID=0", "x", "&podNamespace=a%2Fb"}) {
    INFO(other);
    const auto refused = api.old("GET", info + other);
    CHECK(refused.status == 404);
    CHECK(refused.text() == "Pod does not exist\n");
  }
  CHECK(api.old("GET", "/proxy/minions/n2/podInfo?podID=web").status == 404);
  const auto nameless = api.old("GET", "/proxy/minions/n1/podInfo");
  CHECK(nameless.status == 400);
  CHECK(nameless.text() == "Missing 'podID=' query entry.\n");
}

TEST_CASE("a pod without a state yet has no containers on its minion") {
  legacy_test api;
  api.create_pod("web");
  const std::string pod = std::string{pods_of_today} + "/web";
  CHECK(api.old("GET", "/proxy/minions/n1/podInfo?podID=web").status == 404);
  REQUIRE(api.post(pod + "/binding", R"({"target":{"kind":"Node","name":"n1"}})").status == 201);
  CHECK(api.old("GET", "/proxy/minions/n1/podInfo?podID=web").text() == "{}");
}

TEST_CASE("the health of a minion is read through the server") {
  legacy_test api;
  const std::string health = "/proxy/minions/n1/healthz";
  CHECK(api.old("GET", health).status == 404);
  REQUIRE(api.post("/api/v1/nodes", R"({"metadata":{"name":"n1"}})").status == 201);
  CHECK(api.old("GET", health).status == 503);
  REQUIRE(api.request("PATCH", "/api/v1/nodes/n1/status",
                      R"({"status":{"conditions":[{"type":"Ready","status":"True"}]}})",
                      {{"content-type", merge_patch}})
              .status == 200);
  const auto ready = api.old("GET", health);
  CHECK(ready.status == 200);
  CHECK(ready.text() == "ok");
  CHECK(api.old("GET", "//proxy/minion/n1/healthz").text() == "ok");
}

TEST_CASE("other paths of a minion are not found") {
  legacy_test api;
  for (const std::string path :
       {"/proxy/minions/n1", "/proxy/minions/n1/stats", "/proxy/minions/n1/podInfo/web",
        "//proxy/minion/n1/run/web/c", "//proxy/minion/n1/containerLogs/web/c"}) {
    INFO(path);
    const auto refused = api.old("GET", path);
    CHECK(refused.status == 404);
    CHECK(refused.text().starts_with("Not Found: "));
  }
  CHECK(api.old("POST", "/proxy/minions/n1/podInfo?podID=web").status == 404);
}
