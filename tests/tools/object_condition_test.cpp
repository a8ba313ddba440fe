// Conditions of `troupe wait --for`: parsing, and results for objects.
#include "tools/client/object_condition.hpp"

#include <catch2/catch.hpp>

#include "api/codec/codec.hpp"
#include "api/scheme.hpp"
#include "tools/client/cluster_client.hpp"
#include "tools/client/field_path.hpp"

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
metadata: {name: p, generation: 3, labels: {app: web, app.kubernetes.io/name: site}}
spec:
  nodeName: n1
  hostNetwork: true
  terminationGracePeriodSeconds: 7
  containers: [{name: c, image: x, args: [a, b], resources: {limits: {cpu: 500m}}}]
status:
  phase: Running
  startTime: "2026-03-01T12:00:00Z"
  conditions: [{type: Ready, status: "True"}, {type: Odd, status: "False"}]
)";

const api::kind_info& kind_of(const api::body& object) {
  for (const auto* each : api::scheme::instance().all())
    if (&each->type() == object.GetDescriptor()) return *each;
  FAIL("no kind");
  return *find_kind("pods");
}

bool holds(const char* text, const api::body* of) {
  const auto condition =
      parse_object_condition(text, of == nullptr ? *find_kind("pods") : kind_of(*of));
  INFO((condition ? "" : condition.error()));
  REQUIRE(condition);
  return (*condition)(of);
}

std::string refused(const char* text, const char* kind) {
  const auto parsed = parse_object_condition(text, *find_kind(kind));
  return parsed ? "accepted" : parsed.error();
}

}  // namespace

TEST_CASE("a field is found by its name in JSON") {
  const auto of = object(pod);
  const auto text = [&](const char* path) {
    const auto way = field_path::parse(*of->GetDescriptor(), path);
    INFO((way ? "" : way.error()));
    REQUIRE(way);
    return way->text_in(*of);
  };
  CHECK(text("metadata.name") == "p");
  CHECK(text("spec.nodeName") == "n1");
  CHECK(text("spec.hostNetwork") == "true");
  CHECK(text("spec.terminationGracePeriodSeconds") == "7");
  CHECK(text("status.startTime") == "2026-03-01T12:00:00Z");
  CHECK(text("status.reason") == "");
  CHECK(text("metadata.labels.app") == "web");
  CHECK(text("metadata.labels.app.kubernetes.io/name") == "site");
  CHECK(text("metadata.labels.none") == "");
  CHECK(text("spec.containers[0].image") == "x");
  CHECK(text("spec.containers[0].args[1]") == "b");
  CHECK(text("spec.containers[0].resources.limits.cpu") == "500m");
  CHECK(text("spec.containers[1].image") == "");
  CHECK(text("spec.containers[0].args[2]") == "");
}

TEST_CASE("an impossible condition is refused at once, with the nearest possible one") {
  CHECK(refused("status.nosuch=1", "namespaces") ==
        "status.nosuch is not a field: NamespaceStatus has no \"nosuch\"; there are phase, "
        "conditions");
  const auto [path, why] = GENERATE(table<const char*, const char*>({
      {"status.phas=x", "PodStatus has no \"phas\"; did you mean phase?"},
      {"statsu.phase=x", "Pod has no \"statsu\"; did you mean status?"},
      {"metadata.labels=x", "leads through a map: write labels.KEY"},
      {"metadata.labels.=x", "leads through a map: write labels.KEY"},
      {"metadata.labels[app]=x", "leads through a map: write labels.KEY"},
      {"spec.containers.name=x", "leads through a list: write containers[0]"},
      {"spec.containers[x].name=x", "leads through a list: write containers[0]"},
      {"spec.containers[0]=x", "is not a single value: name one of its fields"},
      {"spec.containers[0]name=x", "containers has none"},
      {"spec=x", "is not a single value"},
      {"status.phase.more=x", "phase has none"},
      {"status.phase[0]=x", "phase has none"},
      {"status.=x", "PodStatus has no \"\""},
      {"..=x", "Pod has no \"\""},
      {"desiredReplicas", "Pod has none"},
  }));
  CHECK_THAT(refused(path, "pods"), Catch::Contains(why));
  CHECK(refused("condition=Ready", "configmaps") == "ConfigMap has no conditions");
  CHECK(refused("desiredReplicas", "deploy") == "accepted");
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

TEST_CASE("an invalid condition is an error that lists the valid forms") {
  for (const auto* wrong : {"", "ready", "=x", "condition=", "condition=Ready="}) {
    INFO(wrong);
    const auto parsed = parse_object_condition(wrong, *find_kind("pods"));
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
