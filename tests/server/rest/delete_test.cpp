#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "api/codec/codec.hpp"
#include "api/schema/meta_request.pb.h"
#include "server/fixtures/rest_fixture.hpp"
#include "server/http/query.hpp"

using namespace troupe;
using namespace troupe::server::testing;

namespace {

const std::string pods = "/api/v1/namespaces/default/pods";
const std::string maps = "/api/v1/namespaces/default/configmaps";
const std::string controllers = "/api/v1/namespaces/default/replicationcontrollers";

void bind(rest_test& server, const std::string& pod) {
  const auto bound =
      server.post(pods + "/" + pod + "/binding", R"({"target":{"kind":"Node","name":"n1"}})");
  REQUIRE(bound.status == 201);
}

const char* controller_json =
    R"({"metadata":{"name":"rc"},"spec":{"replicas":0,"template":{"metadata":{"labels":{"a":"b"}},
        "spec":{"containers":[{"name":"c","image":"i"}]}}}})";

}  // namespace

TEST_CASE("a pod that runs nowhere goes at once, one on a node gets its grace") {
  rest_test server;
  server.create_pod("free");
  const auto gone = server.remove(pods + "/free");
  CHECK(gone.status == 200);
  CHECK(gone.at("kind") == "Pod");
  CHECK(server.get(pods + "/free").status == 404);

  server.create_pod("bound");
  bind(server, "bound");
  const auto marked = server.remove(pods + "/bound");
  CHECK(marked.status == 200);
  CHECK(marked.at("metadata.deletionGracePeriodSeconds") == "30");
  CHECK(marked.has("metadata.deletionTimestamp"));
  const auto sooner = server.remove(pods + "/bound", R"({"gracePeriodSeconds":5})");
  CHECK(sooner.at("metadata.deletionGracePeriodSeconds") == "5");
  CHECK(server.remove(pods + "/bound", R"({"gracePeriodSeconds":0})").status == 200);
  CHECK(server.get(pods + "/bound").status == 404);
}

TEST_CASE("an immediate deletion is answered by a status about the object") {
  rest_test server;
  const auto made = server.post(maps, R"({"metadata":{"name":"m"}})");
  const auto gone = server.remove(maps + "/m");
  CHECK(gone.status == 200);
  CHECK(gone.at("kind") == "Status");
  CHECK(gone.at("status") == "Success");
  CHECK(gone.at("details.name") == "m");
  CHECK(gone.at("details.kind") == "configmaps");
  CHECK(gone.at("details.uid") == made.at("metadata.uid"));
  CHECK(server.remove(maps + "/m").status == 404);
}

TEST_CASE("a deletion may demand the uid and the revision of its object") {
  rest_test server;
  const auto made = server.post(maps, R"({"metadata":{"name":"m"}})");
  const auto other = server.remove(maps + "/m", R"({"preconditions":{"uid":"other"}})");
  CHECK(other.status == 409);
  CHECK(
      other.at("message") ==
      "Operation cannot be fulfilled on ConfigMap \"m\": the UID in the precondition (other) does "
      "not match the UID in record (" +
          made.at("metadata.uid") + "). The object might have been deleted and then recreated");
  const auto earlier = server.remove(maps + "/m", R"({"preconditions":{"resourceVersion":"1"}})");
  CHECK(earlier.status == 409);
  CHECK_THAT(earlier.at("message"),
             Catch::EndsWith("in record (" + made.at("metadata.resourceVersion") +
                             "). The object might have been modified"));
  const auto right = server.remove(
      maps + "/m", R"({"preconditions":{"uid":")" + made.at("metadata.uid") + R"("}})");
  CHECK(right.status == 200);
}

TEST_CASE("options, query or kind decide what becomes of the dependents") {
  rest_test server;
  const auto finalizers = [&](const std::string& query, const std::string& body) {
    REQUIRE(server.post(controllers, controller_json).status == 201);
    const auto answer = server.remove(controllers + "/rc" + query, body);
    CHECK(answer.status == 200);
    const auto left = answer.at("metadata.finalizers");
    if (!left.empty())
      server.patch(controllers + "/rc", "merge", R"({"metadata":{"finalizers":null}})");
    CHECK(server.get(controllers + "/rc").status == 404);
    return left;
  };
  CHECK(finalizers("", R"({"propagationPolicy":"Background"})").empty());
  CHECK(finalizers("", R"({"propagationPolicy":"Foreground"})") == R"(["foregroundDeletion"])");
  CHECK(finalizers("?propagationPolicy=Orphan", "") == R"(["orphan"])");
  CHECK(finalizers("", R"({"orphanDependents":true})") == R"(["orphan"])");
  // A ReplicationController orphans its pods by default.
  CHECK(finalizers("", "") == R"(["orphan"])");
  REQUIRE(server.post(controllers, controller_json).status == 201);
  CHECK(server.remove(controllers + "/rc", R"({"propagationPolicy":"Sometimes"})").status == 422);
  CHECK(
      server
          .remove(controllers + "/rc", R"({"propagationPolicy":"Orphan","orphanDependents":true})")
          .status == 422);
}

TEST_CASE("the last finalizer to go ends a deletion") {
  rest_test server;
  server.post(maps, R"({"metadata":{"name":"m","finalizers":["example.com/hold"]}})");
  const auto marked = server.remove(maps + "/m");
  CHECK(marked.status == 200);
  CHECK(marked.at("kind") == "ConfigMap");
  CHECK(server.get(maps + "/m").has("metadata.deletionTimestamp"));
  const auto released =
      server.patch(maps + "/m", "json", R"([{"op":"remove","path":"/metadata/finalizers"}])");
  CHECK(released.status == 200);
  CHECK_FALSE(released.has("metadata.finalizers"));
  CHECK(server.get(maps + "/m").status == 404);
}

TEST_CASE("options of a deletion may come as protobuf") {
  rest_test server;
  server.create_pod("web");
  bind(server, "web");
  api::meta::v1::DeleteOptions options;
  options.set_grace_period_seconds(7);
  const auto marked =
      server.request("DELETE", pods + "/web", api::encode_protobuf(options, "v1", "DeleteOptions"),
                     {{"content-type", "application/vnd.kubernetes.protobuf"}});
  CHECK(marked.at("metadata.deletionGracePeriodSeconds") == "7");
}

TEST_CASE("a collection is deleted by its selector") {
  rest_test server;
  server.create_pods(100);
  server.create_pod("kept", R"({"app":"db"})");
  const auto gone = server.remove(pods + "?labelSelector=app%3Dweb");
  CHECK(gone.status == 200);
  CHECK(gone.at("kind") == "PodList");
  CHECK(gone.size("items") == 100);
  const auto left = server.get(pods);
  CHECK(left.size("items") == 1);
  CHECK(left.at("items.0.metadata.name") == "kept");
  CHECK(server.remove(pods + "?labelSelector=app%3Dnone").size("items") == 0);
  CHECK(server.remove("/api/v1/namespaces").status == 405);
}

TEST_CASE("the namespaces of the system may not be deleted") {
  rest_test server;
  for (const std::string name : {"default", "kube-system", "kube-public", "kube-node-lease"}) {
    const auto refused = server.remove("/api/v1/namespaces/" + name);
    CHECK(refused.status == 403);
    CHECK(refused.at("reason") == "Forbidden");
    CHECK(refused.at("message") ==
          "namespaces \"" + name + "\" is forbidden: this namespace may not be deleted");
    CHECK(server.get("/api/v1/namespaces/" + name).at("status.phase") == "Active");
  }
  REQUIRE(server.post("/api/v1/namespaces", R"({"metadata":{"name":"mine"}})").status == 201);
  CHECK(server.remove("/api/v1/namespaces/mine").status == 200);
}

TEST_CASE(
    "namespaced objects are neither created nor deleted as a collection without a namespace") {
  rest_test server;
  REQUIRE(server.post(maps, R"({"metadata":{"name":"m"}})").status == 201);
  const auto swept = server.remove("/api/v1/configmaps");
  CHECK(swept.status == 405);
  CHECK(swept.at("reason") == "MethodNotAllowed");
  CHECK(server.get(maps + "/m").status == 200);
  CHECK(server.post("/api/v1/configmaps", R"({"metadata":{"name":"n"}})").status == 405);
  CHECK(server.get("/api/v1/configmaps").size("items") == 1);
}

TEST_CASE("a collection is deleted page by page where a limit is set") {
  rest_test server;
  for (const char* name : {"a", "b", "c"})
    server.post(maps, fmt::format(R"({{"metadata":{{"name":"{}"}}}})", name));
  const auto first = server.remove(maps + "?limit=2");
  CHECK(first.status == 200);
  CHECK(first.size("items") == 2);
  CHECK(first.at("metadata.remainingItemCount") == "1");
  CHECK(server.get(maps).size("items") == 1);
  // Not in later pages.
  server.post(maps, R"({"metadata":{"name":"d"}})");
  const auto token = first.at("metadata.continue");
  REQUIRE_FALSE(token.empty());
  const auto rest = server.remove(maps + "?limit=2&continue=" + server::percent_encode(token));
  CHECK(rest.size("items") == 1);
  CHECK(rest.at("items.0.metadata.name") == "c");
  CHECK_FALSE(rest.has("metadata.continue"));
  CHECK(server.get(maps).at("items.0.metadata.name") == "d");
  CHECK(server.remove(maps + "?continue=none").status == 400);
}

TEST_CASE("a body that is no options of a deletion deletes nothing") {
  rest_test server;
  server.post(maps, R"({"metadata":{"name":"m"}})");
  const auto refused = server.remove(maps + "/m", R"({"apiVersion":"v1","kind":"ConfigMap"})");
  CHECK(refused.status == 400);
  CHECK(refused.at("message") == "decoded object cannot be converted to DeleteOptions");
  CHECK(server.remove(maps, R"({"apiVersion":"v1","kind":"ConfigMap"})").status == 400);
  CHECK(server.get(maps + "/m").status == 200);
  // Every group has its DeleteOptions.
  CHECK(server.remove(maps + "/m", R"({"apiVersion":"apps/v1","kind":"DeleteOptions"})").status ==
        200);
}
