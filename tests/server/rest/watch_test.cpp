#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <future>

#include "api/codec/codec.hpp"
#include "api/codec/envelope.hpp"
#include "api/schema/core_pod.pb.h"
#include "api/schema/meta_request.pb.h"
#include "api/scheme.hpp"
#include "server/fixtures/rest_fixture.hpp"
#include "server/fixtures/stream_clients.hpp"
#include "server/http/query.hpp"

using namespace troupe;
using namespace troupe::server::testing;

namespace {

const std::string pods = "/api/v1/namespaces/default/pods";

std::string name_of(const std::optional<json_text>& event) {
  return event ? event->at("type") + " " + event->at("object.metadata.name") : "nothing";
}

std::string label(rest_test& server, const std::string& name, const std::string& value) {
  const auto answer = server.patch(pods + "/" + name, "merge",
                                   R"({"metadata":{"labels":{"app":")" + value + R"("}}})");
  REQUIRE(answer.status == 200);
  return answer.at("metadata.resourceVersion");
}

}  // namespace

TEST_CASE("a watch without a revision begins with the present state") {
  rest_test server;
  server.create_pod("a");
  server.create_pod("b");
  watching events{server.where(), pods + "?watch=1"};
  CHECK(events.content_type() == "application/json");
  CHECK(name_of(events.next()) == "ADDED a");
  CHECK(name_of(events.next()) == "ADDED b");
  server.create_pod("c");
  CHECK(name_of(events.next()) == "ADDED c");
}

TEST_CASE("a watch from a revision delivers later changes, once and in order") {
  rest_test server;
  server.create_pod("a");
  const auto from = server.create_pod("b").at("metadata.resourceVersion");
  server.create_pod("c");
  const auto changed = label(server, "a", "other");
  watching events{server.where(), pods + "?watch=1&resourceVersion=" + from};
  CHECK(name_of(events.next()) == "ADDED c");
  const auto modified = events.next();
  CHECK(name_of(modified) == "MODIFIED a");
  CHECK(modified->at("object.metadata.resourceVersion") == changed);
  server.remove(pods + "/b");
  const auto deleted = events.next();
  CHECK(name_of(deleted) == "DELETED b");
  CHECK(std::stoull(deleted->at("object.metadata.resourceVersion")) > std::stoull(changed));
}

TEST_CASE("a client cut off between deletions of one transaction sees the rest when it resumes") {
  rest_test server;
  persistence::transaction all;
  const auto& kind = api::kind_of<api::core::v1::Pod>();
  for (const auto* name : {"a", "b", "c"}) {
    server.create_pod(name);
    all.mutations.push_back({.key = kind.key("default", name), .kind = &kind, .content = nullptr});
  }
  const auto from = server.get(pods).at("metadata.resourceVersion");
  std::promise<bool> done;
  server.store().submit(std::move(all),
                        [&](persistence::outcome result) { done.set_value(result.has_value()); });
  REQUIRE(done.get_future().get());
  std::string seen = from;
  for (const auto* name : {"DELETED a", "DELETED b", "DELETED c"}) {
    watching events{server.where(), pods + "?watch=1&resourceVersion=" + seen};
    auto event = events.next();
    while (event && name_of(event) != name)
      event = events.next();
    REQUIRE(name_of(event) == name);
    seen = event->at("object.metadata.resourceVersion");
  }
  watching events{server.where(), pods + "?watch=1&resourceVersion=" + seen};
  server.create_pod("d");
  CHECK(name_of(events.next()) == "ADDED d");
}

TEST_CASE("a client that is cut off sees a transaction over several objects whole or not at all") {
  rest_test server;
  const auto& kind = api::kind_of<api::core::v1::Pod>();
  server.create_pod("a");
  const auto from = server.create_pod("b").at("metadata.resourceVersion");
  persistence::transaction all;
  all.mutations.push_back({.key = kind.key("default", "a"), .kind = &kind, .content = nullptr});
  for (const auto* name : {"b", "c", "d"}) {
    auto pod = server.store().read().find(kind.key("default", "b"))->copy();
    api::meta_of(*pod).set_name(name);
    (*api::meta_of(*pod).mutable_labels())["app"] = "other";
    all.mutations.push_back({kind.key("default", name), &kind, std::move(pod)});
  }
  std::promise<persistence::revision> done;
  server.store().submit(std::move(all), [&](persistence::outcome result) {
    done.set_value(result ? result->at : 0);
  });
  const auto at = std::to_string(done.get_future().get());
  const auto path = pods + "?watch=1&resourceVersion=";
  const std::vector<std::string> whole{"DELETED a", "MODIFIED b", "ADDED c", "ADDED d"};
  for (std::size_t cut = 1; cut <= whole.size(); ++cut) {
    INFO("cut off after " << cut << " events");
    std::string seen;
    {
      watching events{server.where(), path + from};
      for (std::size_t i = 0; i < cut; ++i) {
        const auto event = events.next();
        REQUIRE(name_of(event) == whole[i]);
        seen = event->at("object.metadata.resourceVersion");
      }
    }
    CHECK((seen == at) == (cut == whole.size()));
    if (seen == at) continue;
    watching again{server.where(), path + seen};
    for (const auto& each : whole)
      CHECK(name_of(again.next()) == each);
    // At the end a client that keeps them knows their revision, and may use it for writes.
    for (const auto* each : {"MODIFIED b", "MODIFIED c"}) {
      const auto event = again.next();
      CHECK(name_of(event) == each);
      CHECK(event->at("object.metadata.resourceVersion") == at);
    }
  }
}

TEST_CASE("objects enter and leave a watch by its selector") {
  rest_test server;
  watching events{server.where(), pods + "?watch=1&labelSelector=app%3Dweb"};
  server.create_pod("a", R"({"app":"db"})");
  server.create_pod("b", R"({"app":"web"})");
  CHECK(name_of(events.next()) == "ADDED b");
  label(server, "a", "web");
  CHECK(name_of(events.next()) == "ADDED a");
  const auto left = label(server, "b", "db");
  const auto gone = events.next();
  CHECK(name_of(gone) == "DELETED b");
  CHECK(gone->at("object.metadata.labels.app") == "web");
  CHECK(gone->at("object.metadata.resourceVersion") == left);
}

TEST_CASE("a watch of one name sees that object only") {
  rest_test server;
  watching events{server.where(), pods + "?watch=1&fieldSelector=metadata.name%3Db"};
  watching old_path{server.where(), "/api/v1/watch/namespaces/default/pods/b"};
  server.create_pod("a");
  server.create_pod("b");
  CHECK(name_of(events.next()) == "ADDED b");
  CHECK(name_of(old_path.next()) == "ADDED b");
}

TEST_CASE("a watch from a revision that has gone ends with 410") {
  rest_test server{{.history_revisions = 1}};
  server.create_pods(30);
  REQUIRE(server.store().compact(server.store().read().at() - 5));
  // The watcher still has it in memory, so that only a new watcher must read the log.
  watching events{server.where(), pods + "?watch=1&resourceVersion=2"};
  auto event = events.next();
  if (event && event->at("type") != "ERROR") return;
  REQUIRE(event);
  CHECK(event->at("object.code") == "410");
  CHECK(event->at("object.reason") == "Expired");
  CHECK_FALSE(events.next());
}

TEST_CASE("initial events end with a marked bookmark where the client asks for it") {
  rest_test server;
  server.create_pod("a");
  const auto last = server.create_pod("b").at("metadata.resourceVersion");
  watching events{server.where(),
                  pods +
                      "?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
                      "&allowWatchBookmarks=true"};
  CHECK(name_of(events.next()) == "ADDED a");
  CHECK(name_of(events.next()) == "ADDED b");
  const auto mark = events.next();
  REQUIRE(mark);
  CHECK(mark->at("type") == "BOOKMARK");
  CHECK(mark->at("object.kind") == "Pod");
  CHECK(mark->at("object.metadata.resourceVersion") == last);
  CHECK_THAT(mark->text(), Catch::Contains(R"("k8s.io/initial-events-end":"true")"));

  const auto refused = server.get(pods + "?watch=1&sendInitialEvents=true");
  CHECK(refused.status == 422);
  CHECK(server.get(pods + "?sendInitialEvents=true").status == 422);
}

TEST_CASE("a watch ends at its time, with a last bookmark") {
  rest_test server;
  const auto from = server.create_pod("a").at("metadata.resourceVersion");
  watching events{server.where(), pods +
                                      "?watch=1&timeoutSeconds=1&allowWatchBookmarks=true"
                                      "&resourceVersion=" +
                                      from};
  const auto bookmark = events.next();
  REQUIRE(bookmark);
  CHECK(bookmark->at("type") == "BOOKMARK");
  CHECK(std::stoull(bookmark->at("object.metadata.resourceVersion")) >= std::stoull(from));
  CHECK_FALSE(events.next());
}

TEST_CASE("a watch in protobuf is made of frames with a length") {
  rest_test server;
  server.create_pod("web");
  watching events{server.where(),
                  pods + "?watch=1",
                  {{"accept", "application/vnd.kubernetes.protobuf;stream=watch"}}};
  CHECK(events.content_type() == "application/vnd.kubernetes.protobuf;stream=watch");
  std::size_t size = 0;
  for (const unsigned char byte : events.bytes(4))
    size = size << 8 | byte;
  api::meta::v1::WatchEvent event;
  REQUIRE(event.ParseFromString(events.bytes(size)));
  CHECK(event.type() == "ADDED");
  const auto pod =
      api::decode(event.object().raw(), api::media::protobuf, &api::kind_of<api::core::v1::Pod>());
  REQUIRE(pod);
  CHECK(api::meta_of(*pod->content).name() == "web");
}

TEST_CASE("a watch by WebSocket sends a message for each event, in JSON or protobuf") {
  rest_test server;
  server.create_pod("web");
  websocket_client text{server.where(), pods + "?watch=true", "base64.binary.k8s.io"};
  REQUIRE(text.head().status == 101);
  // A browser closes the connection if none of its offered subprotocols was selected.
  CHECK(text.head().header("sec-websocket-protocol") == "base64.binary.k8s.io");
  CHECK(name_of(json_text{text.next().value_or("")}) == "ADDED web");
  server.remove(pods + "/web");
  CHECK(json_text{text.next().value_or("")}.at("object.metadata.name") == "web");
  server.create_pod("other");
  websocket_client binary{server.where(),
                          pods + "?watch=true&fieldSelector=metadata.name%3Dother",
                          "",
                          {{"accept", "application/vnd.kubernetes.protobuf;stream=watch"}}};
  api::meta::v1::WatchEvent event;
  REQUIRE(event.ParseFromString(binary.next().value_or("?")));
  CHECK(event.type() == "ADDED");
  CHECK(server.count_actors("watch") == 2);
}

TEST_CASE("a watch by WebSocket ends with its client, and with a handshake that is refused") {
  rest_test server;
  {
    websocket_client client{server.where(), pods + "?watch=true", ""};
    REQUIRE(client.head().status == 101);
  }
  CHECK(server.get(pods + "?watch=true", {{"Connection", "Upgrade"}, {"Upgrade", "websocket"}})
            .status == 400);
  CHECK(server.eventually([&] { return server.count_actors("watch") == 0; }));
}

TEST_CASE("a watch from the future waits and shows nothing older") {
  rest_test server;
  const auto now = std::stoull(server.create_pod("a").at("metadata.resourceVersion"));
  watching events{server.where(), fmt::format("{}?watch=1&resourceVersion={}", pods, now + 1)};
  server.create_pod("b");
  server.create_pod("c");
  CHECK(name_of(events.next()) == "ADDED c");
}

TEST_CASE("large objects pass a watch whole, and a client that goes leaves nothing behind") {
  rest_test server;
  {
    watching events{server.where(), "/api/v1/configmaps?watch=1"};
    const std::string value(1'000'000, 'x');
    for (int i = 0; i < 8; ++i) {
      const auto made = server.post(
          "/api/v1/namespaces/default/configmaps",
          fmt::format(R"({{"metadata":{{"name":"m{}"}},"data":{{"k":"{}"}}}})", i, value));
      REQUIRE(made.status == 201);
    }
    for (int i = 0; i < 8; ++i) {
      const auto event = events.next();
      REQUIRE(event);
      CHECK(event->at("object.data.k").size() == value.size());
    }
    CHECK(server.count_actors("watch") == 1);
  }
  CHECK(server.eventually([&] { return server.count_actors("watch") == 0; }));
}
