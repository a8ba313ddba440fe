// What `troupe wait --for` understands, and what it sees in objects.
#include "tools/object_condition.hpp"

#include <catch2/catch.hpp>

#include "api/codec.hpp"
#include "api/scheme.hpp"
#include "tools/cluster_client.hpp"

namespace troupe::tools {
namespace {

std::unique_ptr<api::body> object(const std::string& yaml) {
  auto decoded = api::decode(yaml, api::media::yaml, nullptr);
  REQUIRE(decoded);
  return std::move(decoded->content);
}

const char* const pod = R"(
apiVersion: v1
kind: Pod
metadata: {name: p, generation: 3}
spec:
  nodeName: n1
  hostNetwork: true
  terminationGracePeriodSeconds: 7
  containers: [{name: c, image: x}]
status:
  phase: Running
  startTime: "2026-03-01T12:00:00Z"
  conditions: [{type: Ready, status: "True"}, {type: Odd, status: "False"}]
)";

bool holds(const char* text, const api::body* of) {
  const auto condition = parse_object_condition(text);
  REQUIRE(condition);
  return (*condition)(of);
}

}  // namespace

TEST_CASE("a field is found by its name in JSON") {
  const auto of = object(pod);
  CHECK(field_text(*of, "metadata.name") == "p");
  CHECK(field_text(*of, "spec.nodeName") == "n1");
  CHECK(field_text(*of, "spec.hostNetwork") == "true");
  CHECK(field_text(*of, "spec.terminationGracePeriodSeconds") == "7");
  CHECK(field_text(*of, "status.startTime") == "2026-03-01T12:00:00Z");
  CHECK(field_text(*of, "status.nothing") == "");
  CHECK(field_text(*of, "spec.containers.name") == "");
  CHECK(field_text(*of, "spec") == "");
  CHECK(field_text(*of, "") == "");
  CHECK(field_text(*of, "..") == "");
}

TEST_CASE("conditions are compared as kubectl wait does") {
  const auto of = object(pod);
  CHECK(holds("condition=Ready", of.get()));
  CHECK(holds("condition=ready=true", of.get()));
  CHECK_FALSE(holds("condition=Odd", of.get()));
  CHECK(holds("condition=Odd=False", of.get()));
  CHECK_FALSE(holds("condition=Unknown", of.get()));
  CHECK_FALSE(holds("condition=Ready", nullptr));
}

TEST_CASE("deletion, fields and counts can be waited for") {
  const auto of = object(pod);
  CHECK(holds("delete", nullptr));
  CHECK_FALSE(holds("delete", of.get()));
  CHECK(holds("status.phase=Running", of.get()));
  CHECK_FALSE(holds("status.phase=Pending", of.get()));
  CHECK_FALSE(holds("status.phase=Running", nullptr));
  const std::string rc =
      "apiVersion: v1\nkind: ReplicationController\n"
      "metadata: {name: r, generation: 2}\nspec: {replicas: 3}\n";
  CHECK(
      holds("desiredReplicas", object(rc + "status: {replicas: 3, observedGeneration: 2}").get()));
  CHECK_FALSE(
      holds("desiredReplicas", object(rc + "status: {replicas: 2, observedGeneration: 2}").get()));
  // The controller has not seen the newest number yet.
  CHECK_FALSE(
      holds("desiredReplicas", object(rc + "status: {replicas: 3, observedGeneration: 1}").get()));
}

TEST_CASE("what is nothing to wait for says what could be") {
  for (const auto* wrong : {"", "ready", "=x", "condition=", "condition=Ready="}) {
    INFO(wrong);
    const auto parsed = parse_object_condition(wrong);
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().find("condition=TYPE") != std::string::npos);
  }
}

TEST_CASE("a kind is found by every name that users have for it") {
  for (const auto* word : {"rc", "RC", "replicationcontrollers", "ReplicationController"}) {
    INFO(word);
    REQUIRE(find_kind(word) != nullptr);
    CHECK(find_kind(word)->kind() == "ReplicationController");
  }
  REQUIRE(find_kind("deployments.apps") != nullptr);
  CHECK(find_kind("deployments.apps")->kind() == "Deployment");
  CHECK(find_kind("nonsense") == nullptr);
  CHECK(path_of(*find_kind("deploy"), "a b", "web") ==
        "/apis/apps/v1/namespaces/a%20b/deployments/web");
  CHECK(path_of(*find_kind("no"), "x", "n1") == "/api/v1/nodes/n1");
}

}  // namespace troupe::tools
