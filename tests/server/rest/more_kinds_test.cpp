// All kinds over HTTP: stored, served in the shapes of other versions, with warnings for kinds that
// have no effect yet.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "api/codec/codec.hpp"
#include "api/kind_row.hpp"
#include "api/kinds/deprecations.hpp"
#include "api/object/object.hpp"
#include "api/schema/meta_object.pb.h"
#include "api/schema/networking_policy.pb.h"
#include "api/scheme.hpp"
#include "server/fixtures/rest_fixture.hpp"
#include "support/kind_examples.hpp"

using namespace troupe;
using namespace troupe::server::testing;

namespace {

const test::http_client::fields as_yaml{{"content-type", "application/yaml"}};

std::string document(const test::kind_example& example) {
  return fmt::format("apiVersion: {}\nkind: {}\n{}", example.api_version, example.kind,
                     example.rest);
}

std::string name_of(const test::kind_example& example) {
  const auto read = api::decode(document(example), api::media::yaml, nullptr);
  REQUIRE(read);
  return api::meta_of(*read->content).name();
}

std::string collection_of(const api::kind_info& kind) {
  auto path = (kind.group().empty() ? "/api/" : "/apis/") + kind.api_version();
  if (kind.namespaced()) path += "/namespaces/default";
  return path + "/" + kind.plural();
}

const std::string request_in_pem =
    "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlJQgotLS0tLUVORCBDRVJUSUZJQ0FURSBSRVFVRVNU"
    "LS0tLS0K";

}  // namespace

TEST_CASE("every kind is created, read, listed, patched and deleted") {
  rest_test server;
  for (const auto& example : test::kind_examples()) {
    INFO(example.api_version << " " << example.kind);
    const auto kind = api::scheme::instance().find(example.api_version, example.kind);
    REQUIRE(static_cast<bool>(kind));
    const auto all = collection_of(*kind);
    const auto one = all + "/" + name_of(example);
    const auto made = server.post(all, document(example), as_yaml);
    INFO(made.text());
    REQUIRE(made.status == 201);
    CHECK(made.at("kind") == example.kind);
    CHECK(made.at("apiVersion") == example.api_version);
    CHECK(made.headers.contains("warning") ==
          (!kind->row().warning.empty() || !api::deprecation_of(*kind).empty()));
    CHECK(server.get(one).text() == made.text());
    const auto list = server.get(all);
    CHECK(list.at("kind") == std::string(example.kind) + "List");
    CHECK(list.size("items") >= 1);
    const auto patched =
        server.patch(one, "merge", R"({"metadata":{"annotations":{"note":"seen"}}})");
    CHECK(patched.status == 200);
    CHECK(patched.at("metadata.annotations.note") == "seen");
    // For a deployment annotations count: its replica sets have them.
    if (example.kind != "Deployment")
      CHECK(patched.at("metadata.generation") == made.at("metadata.generation"));
    if (kind->options().has_status()) CHECK(server.get(one + "/status").status == 200);
    const auto table = server.get(
        all, {{"accept", "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"}});
    CHECK(table.at("kind") == "Table");
    CHECK(table.at("rows.0.object.kind") == "PartialObjectMetadata");
    if (example.kind == "Namespace") continue;  // it is deleted when it is empty
    CHECK(server.remove(one).status == 200);
  }
}

TEST_CASE("an event stands under both of its groups, and a watch shows it in its shape") {
  rest_test server;
  const std::string newer = "/apis/events.k8s.io/v1/namespaces/default/events";
  const std::string older = "/api/v1/namespaces/default/events";
  watching watch(server.where(), newer + "?watch=1&fieldSelector=regarding.name%3Dp");
  REQUIRE(watch.status() == 200);
  REQUIRE(server
              .post(older,
                    R"({"kind":"Event","apiVersion":"v1","metadata":{"name":"e"},"message":"well",)"
                    R"("involvedObject":{"kind":"Pod","namespace":"default","name":"p"}})")
              .status == 201);
  const auto seen = watch.next();
  REQUIRE(seen);
  CHECK(seen->at("type") == "ADDED");
  CHECK(seen->at("object.apiVersion") == "events.k8s.io/v1");
  CHECK(seen->at("object.note") == "well");
  CHECK(seen->at("object.regarding.name") == "p");
  CHECK_FALSE(seen->has("object.involvedObject"));

  CHECK(server.get(newer + "?fieldSelector=regarding.name%3Dq").size("items") == 0);
  CHECK(server.get(newer + "?fieldSelector=regarding.name%3Dp").at("items.0.note") == "well");
  REQUIRE(server.patch(newer + "/e", "merge", R"({"note":"better"})").status == 200);
  CHECK(server.get(older + "/e").at("message") == "better");
  CHECK(server.get(older + "/e").at("apiVersion") == "v1");
  CHECK(server.remove(newer + "/e").status == 200);
  CHECK(server.get(older + "/e").status == 404);
}

TEST_CASE("an autoscaler of autoscaling/v2 is served as autoscaling/v1 and keeps its metrics") {
  rest_test server;
  const std::string newer = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers";
  const std::string older = "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers";
  REQUIRE(
      server
          .post(newer,
                R"({"kind":"HorizontalPodAutoscaler","apiVersion":"autoscaling/v2",)"
                R"("metadata":{"name":"a"},"spec":{"maxReplicas":3,"scaleTargetRef":)"
                R"({"kind":"Deployment","name":"d"},"metrics":[{"type":"Resource","resource":)"
                R"({"name":"memory","target":{"type":"Utilization","averageUtilization":7}}}]}})")
          .status == 201);
  const auto shown = server.get(older + "/a");
  CHECK(shown.at("apiVersion") == "autoscaling/v1");
  CHECK(shown.at("spec.maxReplicas") == "3");
  CHECK_FALSE(shown.has("spec.targetCPUUtilizationPercentage"));
  const auto changed = server.patch(
      older + "/a", "merge", R"({"spec":{"maxReplicas":8,"targetCPUUtilizationPercentage":60}})");
  REQUIRE(changed.status == 200);
  CHECK(changed.at("apiVersion") == "autoscaling/v1");
  const auto now = server.get(newer + "/a");
  CHECK(now.at("spec.maxReplicas") == "8");
  CHECK(now.size("spec.metrics") == 2);
  CHECK(now.at("spec.metrics.0.resource.name") == "memory");
  CHECK(now.at("spec.metrics.1.resource.target.averageUtilization") == "60");
  // Clients prefer the newer version.
  CHECK(server.get("/apis/autoscaling").at("preferredVersion.version") == "v2");
}

TEST_CASE("kinds that are not enforced return a warning at every write") {
  rest_test server;
  const std::string policies = "/apis/networking.k8s.io/v1/namespaces/default/networkpolicies";
  const std::string expected =
      "299 - \"networkpolicies.networking.k8s.io are stored, but this cluster does not enforce "
      "them yet\"";
  const std::string policy =
      R"({"kind":"NetworkPolicy","apiVersion":"networking.k8s.io/v1","metadata":{"name":"deny"},)"
      R"("spec":{"podSelector":{}}})";
  const auto made = server.post(policies, policy);
  REQUIRE(made.status == 201);
  CHECK(made.headers.at("warning") == expected);
  CHECK(server.put(policies + "/deny", policy).headers.at("warning") == expected);
  CHECK(server.patch(policies + "/deny", "merge", "{}").headers.at("warning") == expected);
  CHECK_FALSE(server.get(policies + "/deny").headers.contains("warning"));
}

TEST_CASE("a kind that this cluster enforces comes without the warning") {
  rest_test server{{.rest = {.enforced = {&api::kind_of<api::networking::v1::NetworkPolicy>()}}}};
  const auto made = server.post("/apis/networking.k8s.io/v1/namespaces/default/networkpolicies",
                                R"({"kind":"NetworkPolicy","apiVersion":"networking.k8s.io/v1",)"
                                R"("metadata":{"name":"deny"},"spec":{"podSelector":{}}})");
  REQUIRE(made.status == 201);
  CHECK_FALSE(made.headers.contains("warning"));
}

TEST_CASE("a certificate request names its user, and is approved by a subresource") {
  rest_test server;
  const std::string requests = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
  const auto made = server.post(
      requests, R"({"kind":"CertificateSigningRequest","apiVersion":"certificates.k8s.io/v1",)"
                R"("metadata":{"name":"a"},"spec":{"signerName":"example.com/s","usages":)"
                R"(["client auth"],"username":"somebody-else","request":")" +
                    request_in_pem + R"("}})");
  REQUIRE(made.status == 201);
  CHECK(made.at("spec.username") != "somebody-else");
  const auto decide = [&](const std::string& part, const std::string& status) {
    return server.patch(requests + "/a/" + part, "merge", R"({"status":)" + status + "}");
  };
  const std::string approved =
      R"({"conditions":[{"type":"Approved","status":"True","reason":"Good"}]})";
  // A write of the status cannot approve, and an approval cannot sign.
  CHECK(decide("status", approved).at("status.conditions.0.type").empty());
  const auto signed_too = decide(
      "approval", R"({"certificate":"YQ==","conditions":[{"type":"Approved","status":"True"}]})");
  CHECK(signed_too.status == 200);
  CHECK(signed_too.at("status.conditions.0.type") == "Approved");
  CHECK_FALSE(signed_too.has("status.certificate"));
  CHECK(decide("approval", R"({"conditions":[{"type":"Denied","status":"True"}]})").status == 422);
  const auto issued = decide("status", R"({"certificate":"YQ=="})");
  CHECK(issued.at("status.certificate") == "YQ==");
  CHECK(issued.at("status.conditions.0.type") == "Approved");
  CHECK(server.patch(requests + "/a", "merge", R"({"spec":{"signerName":"example.com/other"}})")
            .at("spec.signerName") == "example.com/s");
}

TEST_CASE("parts of the control plane say how they are when they are asked") {
  rest_test server;
  const auto all = server.get("/api/v1/componentstatuses");
  REQUIRE(all.status == 200);
  CHECK(all.at("kind") == "ComponentStatusList");
  CHECK(all.size("items") == 3);
  CHECK(all.at("items.0.metadata.name") == "controller-manager");
  CHECK(all.at("items.2.metadata.name") == "store");
  CHECK(all.at("items.2.conditions.0.status") == "True");
  CHECK(server.get("/api/v1/componentstatuses/store").at("conditions.0.message") == "ok");
  CHECK(server.get("/api/v1/componentstatuses/none").status == 404);
  CHECK(server.post("/api/v1/componentstatuses", "{}").status == 405);
}

TEST_CASE("a read of a kind that upstream deprecated returns a warning") {
  rest_test server;
  const auto warning = [&](const std::string& path) {
    const auto answer = server.get(path);
    const auto found = answer.headers.find("warning");
    return found == answer.headers.end() ? std::string{} : found->second;
  };
  CHECK(warning("/api/v1/componentstatuses") ==
        "299 - \"v1 ComponentStatus is deprecated in v1.19+\"");
  CHECK(warning("/api/v1/namespaces/default/endpoints") ==
        "299 - \"v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice\"");
  CHECK(warning("/api/v1/services").empty());
}

TEST_CASE("a stateful set is scaled by its scale") {
  rest_test server;
  const std::string sets = "/apis/apps/v1/namespaces/default/statefulsets";
  for (const auto& example : test::kind_examples())
    if (example.kind == "StatefulSet")
      REQUIRE(server.post(sets, document(example), as_yaml).status == 201);
  const auto scale = server.get(sets + "/x/scale");
  CHECK(scale.at("spec.replicas") == "1");
  CHECK(scale.at("status.selector") == "a=b");
  CHECK(server.patch(sets + "/x/scale", "merge", R"({"spec":{"replicas":4}})").status == 200);
  CHECK(server.get(sets + "/x").at("spec.replicas") == "4");
  CHECK(server.get(sets + "/x").at("metadata.generation") == "2");
}
