#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <memory>

#include "server/fixtures/rest_fixture.hpp"
#include "server/fixtures/stream_clients.hpp"
#include "support/folder_logs.hpp"

using namespace troupe;
using namespace troupe::server::testing;
using Catch::Matchers::Contains;

namespace {

const std::string pods = "/api/v1/namespaces/default/pods";

struct log_test {
  const std::shared_ptr<test::folder_logs> kept = std::make_shared<test::folder_logs>();
  const test::folder_logs& logs = *kept;
  rest_test server{{.rest = {.permissions = nullptr, .logs = kept, .observe = {}}}};

  log_test() { create_pod(); }
  void create_pod() {
    server.create_pod("web");
    server.post(pods + "/web/binding", R"({"target":{"kind":"Node","name":"n1"}})");
  }
  // Reports `state` and `last` of its container "c"; `attempt` is the number of its run.
  void report(const std::string& state, const std::string& last = "{}", int attempt = 1) {
    const auto done = server.request(
        "PATCH", pods + "/web/status",
        fmt::format(R"({{"status":{{"containerStatuses":[{{"name":"c","image":"i","imageID":"",)"
                    R"("ready":false,"restartCount":{0},"containerID":"process://u/c/{0}",)"
                    R"("state":{1},"lastState":{2}}}]}}}})",
                    attempt, state, last),
        {{"content-type", "application/merge-patch+json"}});
    REQUIRE(done.status == 200);
  }
  rest_answer log(const std::string& query = {}) { return server.get(pods + "/web/log" + query); }
};

const std::string running = R"({"running":{}})";
const std::string waiting = R"({"waiting":{"reason":"CrashLoopBackOff"}})";
const std::string ended_0 = R"({"terminated":{"exitCode":1,"containerID":"process://u/c/0"}})";
const std::string ended_1 = R"({"terminated":{"exitCode":1,"containerID":"process://u/c/1"}})";

}  // namespace

TEST_CASE("the log is that of the run which the status names, the previous one on demand") {
  log_test t;
  t.logs.write("c", 0, "first life");
  t.logs.write("c", 1, "second life");
  t.report(running, ended_0);
  CHECK(t.log().text() == "second life\n");
  CHECK(t.log("?previous=true").text() == "first life\n");
  CHECK(t.log().headers.at("content-type") == "text/plain");
  // Between two runs both refer to the last one.
  t.report(waiting, ended_1);
  CHECK(t.log().text() == "second life\n");
  CHECK(t.log("?previous=true").text() == "second life\n");
  t.report(ended_1, ended_0);
  CHECK(t.log().text() == "second life\n");
  CHECK(t.log("?previous=true").text() == "first life\n");
}

TEST_CASE("a log that is not there is refused with the reason") {
  log_test t;
  const auto refusal = [&](const std::string& query = {}) {
    const auto answer = t.log(query);
    CHECK(answer.status == 400);
    return answer.at("message");
  };
  CHECK_THAT(refusal(), Contains("is waiting to start: there is no log yet"));
  t.report(R"({"waiting":{"reason":"ImageRuntimeRequired"}})");
  CHECK(refusal() == "container \"c\" in pod \"web\" is waiting to start: ImageRuntimeRequired");
  t.report(running);
  CHECK(refusal() == "container \"c\" in pod \"web\" has no log: its node n1 keeps none");
  CHECK(refusal("?previous=true") ==
        "previous terminated container \"c\" in pod \"web\" not found");
  CHECK(refusal("?container=d") == "container d is not valid for pod web");
  CHECK_THAT(refusal("?tailLines=-1"), Contains("tailLines"));
  CHECK_THAT(refusal("?limitBytes=0"), Contains("limitBytes"));
  CHECK(t.server.get(pods + "/none/log").status == 404);
  t.server.create_pod("free");
  CHECK_THAT(t.server.get(pods + "/free/log").at("message"),
             Contains("does not have a host assigned"));
}

TEST_CASE("a log is cut by lines and bytes, and stamped on demand") {
  log_test t;
  for (int i = 0; i < 5; ++i)
    t.logs.write("c", 1, fmt::format("line {}", i));
  t.report(running);
  CHECK(t.log("?tailLines=2").text() == "line 3\nline 4\n");
  CHECK(t.log("?tailLines=0").text().empty());
  CHECK(t.log("?limitBytes=9").text() == "line 0\nli");
  CHECK(t.log("?tailLines=1&timestamps=true").text() == "2026-01-02T03:04:05.000000006Z line 4\n");
  CHECK(t.log("?sinceTime=2026-01-02T03:04:06Z").text().empty());
}

TEST_CASE("a log is followed until its container ends") {
  log_test t;
  t.logs.write("c", 1, "one");
  t.report(running);
  test::http_client informer{t.server.where()};
  informer.send_request("GET", pods + "/web/log?follow=true");
  REQUIRE(informer.receive_head().status == 200);
  CHECK(informer.next_chunk() == "one\n");
  t.logs.write("c", 1, "two");
  CHECK(informer.next_chunk() == "two\n");
  t.logs.write("c", 1, "three");
  t.report(ended_1);
  CHECK(informer.next_chunk() == "three\n");
  CHECK_FALSE(informer.next_chunk());
  CHECK(t.server.eventually([&] { return t.server.count_actors("log") == 0; }));
}

TEST_CASE("a log is followed to the end of its run, whatever comes after it") {
  log_test t;
  t.logs.write("c", 0, "first life");
  t.logs.write("c", 1, "second life");
  t.report(running, ended_0);
  test::http_client informer{t.server.where()};
  const auto follow = [&](const std::string& more = {}) {
    informer.send_request("GET", pods + "/web/log?follow=true" + more);
    REQUIRE(informer.receive_head().status == 200);
    REQUIRE(informer.next_chunk());
  };
  SECTION("the container runs again") {
    follow();
    t.report(running, ended_1, 2);
  }
  SECTION("the container waits to run again") {
    follow();
    t.report(waiting, ended_1);
  }
  SECTION("another pod has its name") {
    follow();
    t.server.remove(pods + "/web?gracePeriodSeconds=0");
    t.create_pod();
    t.report(running, ended_0);
  }
  SECTION("the run was over from the beginning") {
    follow("&previous=true");
  }
  CHECK(t.server.eventually([&] { return t.server.count_actors("log") == 0; }));
  CHECK_FALSE(informer.next_chunk());
}

TEST_CASE("a log since a moment begins with the line of that moment") {
  log_test t;
  t.logs.write("c", 1, "a line");
  t.report(running);
  const auto since = [&](const std::string& moment) { return t.log("?sinceTime=" + moment); };
  CHECK(since("2026-01-02T03:04:05Z").text() == "a line\n");
  CHECK(since("2026-01-02T03:04:05.000000006Z").text() == "a line\n");
  CHECK(since("2026-01-02T03:04:05.000000007Z").text().empty());
  CHECK(since("2026-01-02T05:04:05%2B02:00").text() == "a line\n");
  CHECK(since("2026-01-02T05:04:06%2B02:00").text().empty());
  CHECK(since("").text() == "a line\n");
  CHECK(since("yesterday").status == 400);
  CHECK_THAT(since("2026-01-02").at("message"), Contains("sinceTime must be a moment as"));
  CHECK(t.log("?sinceSeconds=1").text().empty());
  CHECK(t.log("?sinceTime=2026-01-02T03:04:05Z&sinceSeconds=1").at("message") ==
        "at most one of sinceTime and sinceSeconds may be given");
}

TEST_CASE("a log by WebSocket begins with an empty message, and is bytes or base64") {
  log_test t;
  t.logs.write("c", 1, "hello");
  t.report(running);
  for (const std::string protocol : {"binary.k8s.io", "base64.binary.k8s.io", ""}) {
    CAPTURE(protocol);
    websocket_client client{t.server.where(), pods + "/web/log", protocol};
    REQUIRE(client.head().status == 101);
    CHECK(client.head().header("sec-websocket-protocol") == protocol);
    CHECK(client.next() == "");
    CHECK(client.next() == (protocol == "base64.binary.k8s.io" ? "aGVsbG8K" : "hello\n"));
    CHECK_FALSE(client.next());
  }
  CHECK(websocket_client(t.server.where(), pods + "/web/log", "other").head().status == 400);
}
