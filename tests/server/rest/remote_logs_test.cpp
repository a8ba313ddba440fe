// Logs of pods on joined nodes: read there, sent over the link, returned to the client.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <memory>

#include "actors/link/node_gateway.hpp"
#include "actors/link/node_links.hpp"
#include "server/fixtures/rest_fixture.hpp"
#include "support/folder_logs.hpp"
#include "support/link/loopback.hpp"

using namespace troupe;
using namespace troupe::server::testing;
using Catch::Matchers::Contains;

namespace {

const std::string pods = "/api/v1/namespaces/default/pods";
const std::string running = R"({"running":{}})";
const std::string ended = R"({"terminated":{"exitCode":0,"containerID":"process://u/c/0"}})";

// A node behind a link, with the logs of its containers in a folder, and a pod on it.
struct far_logs {
  rest_test server;
  const std::shared_ptr<test::folder_logs> logs = std::make_shared<test::folder_logs>();
  runtime::actor_system system;  // of the node
  runtime::actor_ref gateway;
  test::loopback line;

  far_logs() {
    server.post("/api/v1/nodes", R"({"kind":"Node","apiVersion":"v1","metadata":{"name":"n1",)"
                                 R"("annotations":{"troupe.dev/node-key":"sha256:n1"}}})");
    server.create_pod("web");
    server.post(pods + "/web/binding", R"({"target":{"kind":"Node","name":"n1"}})");
    gateway = actors::spawn_gateway(system, {.node = "n1", .logs = logs});
    connect();
  }
  ~far_logs() { line.cut(); }

  void connect() {
    line = test::make_loopback({"system:node:n1", {"system:nodes"}, "sha256:n1", {}},
                               actors::gateway_acceptor(gateway), {"plane", {}, {}, {}},
                               server.plane().links().acceptor());
    REQUIRE(server.eventually([&] { return server.plane().links().table().connected("n1"); }));
  }
  void write(const std::string& text, int times = 1) const { logs->write("c", 0, text, times); }
  void report(const std::string& state, int attempt = 0) {
    const auto done = server.request(
        "PATCH", pods + "/web/status",
        fmt::format(R"({{"status":{{"containerStatuses":[{{"name":"c","image":"i","imageID":"",)"
                    R"("ready":false,"restartCount":{0},"containerID":"process://u/c/{0}",)"
                    R"("state":{1}}}]}}}})",
                    attempt, state),
        {{"content-type", "application/merge-patch+json"}});
    REQUIRE(done.status == 200);
  }
  // A client that follows it and has received its first line, "one".
  std::unique_ptr<test::http_client> follow() {
    write("one");
    report(running);
    auto informer = std::make_unique<test::http_client>(server.where());
    informer->send_request("GET", pods + "/web/log?follow=true");
    REQUIRE(informer->receive_head().status == 200);
    CHECK(informer->next_chunk() == "one\n");
    return informer;
  }
  rest_answer log(const std::string& query = {}) { return server.get(pods + "/web/log" + query); }
};

}  // namespace

TEST_CASE("the log of a pod on a joined node comes over its link") {
  far_logs t;
  t.write("one");
  t.write("two");
  t.report(running);
  CHECK(t.log().text() == "one\ntwo\n");
  CHECK(t.log("?tailLines=1").text() == "two\n");
  CHECK(t.log("?limitBytes=3").text() == "one");
  CHECK(t.log().headers.at("content-type") == "text/plain");
}

TEST_CASE("a long log of a joined node comes whole, in parts") {
  far_logs t;
  t.write(std::string(1'000, 'x'), 3'000);
  t.report(running);
  CHECK(t.log().text().size() == 3'000 * 1'001);
}

TEST_CASE("a log on a joined node is followed until its container ends") {
  far_logs t;
  const auto informer = t.follow();
  t.write("two");
  CHECK(informer->next_chunk() == "two\n");
  t.write("three");
  t.report(ended);
  CHECK(informer->next_chunk() == "three\n");
  CHECK_FALSE(informer->next_chunk());
  CHECK(t.server.eventually([&] { return t.server.count_actors("log") == 0; }));
}

TEST_CASE("a log on a joined node is followed to the end of its run, though another has begun") {
  far_logs t;
  const auto informer = t.follow();
  t.report(running, 1);
  CHECK(t.server.eventually([&] { return t.server.count_actors("log") == 0; }));
  CHECK_FALSE(informer->next_chunk());
}

TEST_CASE("a client that leaves ends the reading of its log on the joined node") {
  far_logs t;
  t.follow();  // and disconnects
  const auto readers = [&] {
    std::size_t count = 0;
    t.system.actors().each([&](const runtime::actor_info& each) { count += each.kind == "log"; });
    return count;
  };
  CHECK(t.server.eventually([&] { return readers() == 0; }));
}

TEST_CASE("a log that a joined node has not, or cannot send, is refused with the reason") {
  far_logs t;
  t.report(running);
  const auto none = t.log();
  CHECK(none.status == 400);
  CHECK(none.at("message") == "container \"c\" in pod \"web\" has no log: its node n1 keeps none");
  t.line.cut();
  REQUIRE(t.server.eventually([&] { return !t.server.plane().links().table().connected("n1"); }));
  const auto away = t.log();
  CHECK(away.status == 503);
  CHECK_THAT(away.at("message"), Contains("node n1 is not connected"));
}
