// Logs as kubectl 0.5 and 0.6 request them: through the pod's minion.
#include <catch2/catch.hpp>
#include <memory>

#include "server/fixtures/legacy_fixture.hpp"
#include "support/folder_logs.hpp"

using namespace troupe;
using namespace troupe::server::testing;

namespace {

const std::string logs_of_n1 = "/proxy/minions/n1/containerLogs/default/";

}  // namespace

TEST_CASE("a log of a container is read through its minion") {
  const auto kept = std::make_shared<test::folder_logs>();
  legacy_test api{{.rest = {.permissions = nullptr, .logs = kept, .observe = {}}}};
  api.create_pod("web");
  const std::string pod = std::string{pods_of_today} + "/web";
  REQUIRE(api.post(pod + "/binding", R"({"target":{"kind":"Node","name":"n1"}})").status == 201);
  REQUIRE(api.request("PATCH", pod + "/status",
                      R"({"status":{"containerStatuses":[{"name":"c","image":"i","imageID":"",)"
                      R"("ready":true,"restartCount":1,"containerID":"process://u/c/1",)"
                      R"("state":{"running":{}},"lastState":{}}]}})",
                      {{"content-type", "application/merge-patch+json"}})
              .status == 200);
  kept->write("c", 1, "first");
  kept->write("c", 1, "second");
  const auto log = api.old("GET", logs_of_n1 + "web/c");
  CHECK(log.status == 200);
  CHECK(log.headers.at("content-type") == "text/plain");
  CHECK(log.text() == "first\nsecond\n");
  CHECK(api.old("GET", logs_of_n1 + "web/c?tail=1").text() == "second\n");
  for (const std::string minions : {"//proxy/minions/", "//proxy/minion/"})
    CHECK(api.old("GET", minions + "n1/containerLogs/default/web/c").text() == log.text());

  test::http_client follower{api.old_where()};
  follower.send_request("GET", "/api/v1beta1" + logs_of_n1 + "web/c?follow=1&tail=0");
  REQUIRE(follower.receive_head().status == 200);
  kept->write("c", 1, "third");
  CHECK(follower.next_chunk() == "third\n");

  const auto no_pod = api.old("GET", logs_of_n1 + "none/c");
  CHECK(no_pod.status == 404);
  CHECK(no_pod.text() == "Pod \"none\" does not exist\n");
  CHECK(api.old("GET", logs_of_n1 + "web/d").text() ==
        "Container \"d\" not found in Pod \"web\"\n");
  CHECK(api.old("GET", "/proxy/minions/n2/containerLogs/default/web/c").status == 404);
  CHECK(api.old("GET", "/proxy/minions/n1/stats").status == 404);
  CHECK(api.old("POST", logs_of_n1 + "web/c").status == 404);
}
