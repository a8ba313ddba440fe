#include <catch2/catch.hpp>

#include "server/rest_fixture.hpp"

using namespace troupe::server::testing;

TEST_CASE("a pod can be created, read, listed, watched and deleted") {
  rest_test server;
  watching events{server.where(), "/api/v1/namespaces/default/pods?watch=true"};
  REQUIRE(events.status() == 200);

  const auto created = server.create_pod("web");
  CHECK(created.at("kind") == "Pod");
  CHECK(created.at("metadata.namespace") == "default");
  CHECK(created.at("metadata.uid").size() == 36);
  CHECK(created.at("status.phase") == "Pending");
  const auto added = events.next();
  REQUIRE(added);
  CHECK(added->at("type") == "ADDED");
  CHECK(added->at("object.metadata.resourceVersion") == created.at("metadata.resourceVersion"));

  CHECK(server.get("/api/v1/namespaces/default/pods/web").at("metadata.uid") ==
        created.at("metadata.uid"));
  const auto list = server.get("/api/v1/pods");
  CHECK(list.at("kind") == "PodList");
  CHECK(list.size("items") == 1);

  const auto removed = server.remove("/api/v1/namespaces/default/pods/web");
  CHECK(removed.status == 200);
  const auto deleted = events.next();
  REQUIRE(deleted);
  CHECK(deleted->at("type") == "DELETED");
  const auto gone = server.get("/api/v1/namespaces/default/pods/web");
  CHECK(gone.status == 404);
  CHECK(gone.at("message") == "pods \"web\" not found");
  CHECK(gone.at("details.kind") == "pods");
}
