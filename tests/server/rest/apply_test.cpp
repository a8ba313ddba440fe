// Server-side apply: owners of fields, conflicts, removed fields, and the effects of other writes.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "server/fixtures/rest_fixture.hpp"

using namespace troupe;
using namespace troupe::server::testing;

namespace {

const std::string maps = "/api/v1/namespaces/default/configmaps";
const std::string deployments = "/apis/apps/v1/namespaces/default/deployments";

struct apply_test : rest_test {
  rest_answer apply(const std::string& path, const std::string& manager, const std::string& body,
                    bool force = false) {
    return request("PATCH",
                   path + (path.find('?') == path.npos ? "?" : "&") + "fieldManager=" + manager +
                       (force ? "&force=true" : ""),
                   body, {{"content-type", "application/apply-patch+yaml"}});
  }
};

std::string map_yaml(const std::string& data) {
  return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\ndata: {" + data + "}\n";
}

// "manager operation fields" of each entry.
std::vector<std::string> owners(const rest_answer& of) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < of.size("metadata.managedFields"); ++i) {
    const auto at = fmt::format("metadata.managedFields.{}.", i);
    all.push_back(of.at(at + "manager") + " " + of.at(at + "operation") + " " +
                  of.at(at + "fieldsV1"));
  }
  return all;
}

std::string deployment_yaml(const std::string& spec) {
  return "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n"
         "  selector: {matchLabels: {a: b}}\n"
         "  template:\n    metadata: {labels: {a: b}}\n"
         "    spec:\n      containers:\n" +
         spec;
}

}  // namespace

TEST_CASE("an applied object is created, owned, and unchanged by a second apply") {
  apply_test server;
  const auto made = server.apply(maps + "/m", "one", map_yaml("a: '1', b: '2'"));
  INFO(made.text());
  REQUIRE(made.status == 201);
  CHECK(owners(made) == std::vector<std::string>{R"(one Apply {"f:data":{"f:a":{},"f:b":{}}})"});
  CHECK(made.at("metadata.managedFields.0.apiVersion") == "v1");
  CHECK(made.at("metadata.managedFields.0.fieldsType") == "FieldsV1");
  const auto again = server.apply(maps + "/m", "one", map_yaml("a: '1', b: '2'"));
  CHECK(again.status == 200);
  CHECK(again.at("metadata.resourceVersion") == made.at("metadata.resourceVersion"));
  // Fields that are no longer applied are removed.
  const auto less = server.apply(maps + "/m", "one", map_yaml("a: '3'"));
  CHECK(less.at("data.a") == "3");
  CHECK_FALSE(less.has("data.b"));
}

TEST_CASE("a field of another manager is a conflict, unless the value is equal or force is set") {
  apply_test server;
  REQUIRE(server.apply(maps + "/m", "one", map_yaml("a: '1', b: '2'")).status == 201);
  const auto same = server.apply(maps + "/m", "two", map_yaml("a: '1'"));
  CHECK(same.status == 200);
  CHECK(owners(same) == std::vector<std::string>{R"(one Apply {"f:data":{"f:a":{},"f:b":{}}})",
                                                 R"(two Apply {"f:data":{"f:a":{}}})"});
  const auto conflict = server.apply(maps + "/m", "two", map_yaml("b: '3'"));
  CHECK(conflict.status == 409);
  CHECK(conflict.at("message") == "Apply failed with 1 conflict: conflict with \"one\": .data.b");
  CHECK(conflict.at("details.causes.0.reason") == "FieldManagerConflict");
  CHECK(conflict.at("details.causes.0.field") == ".data.b");
  const auto forced = server.apply(maps + "/m", "two", map_yaml("b: '3'"), true);
  CHECK(forced.at("data.b") == "3");
  // "two" gave up .data.a, which "one" still owns.
  CHECK(forced.at("data.a") == "1");
  CHECK(owners(forced) == std::vector<std::string>{R"(one Apply {"f:data":{"f:a":{}}})",
                                                   R"(two Apply {"f:data":{"f:b":{}}})"});
}

TEST_CASE("an object that was never applied belongs to its earlier manager") {
  apply_test server;
  REQUIRE(server.post(maps, R"({"metadata":{"name":"m"},"data":{"a":"1","b":"2"}})").status == 201);
  CHECK(server.get(maps + "/m").size("metadata.managedFields") == 0);
  const auto conflict = server.apply(maps + "/m", "one", map_yaml("a: '3'"));
  CHECK(conflict.status == 409);
  CHECK(conflict.at("message") ==
        "Apply failed with 1 conflict: conflict with \"before-first-apply\" using v1: .data.a");
  const auto taken = server.apply(maps + "/m", "one", map_yaml("a: '3'"), true);
  CHECK(owners(taken) ==
        std::vector<std::string>{R"(one Apply {"f:data":{"f:a":{}}})",
                                 R"(before-first-apply Update {"f:data":{"f:b":{}}})"});
}

TEST_CASE("what client-side apply had set belongs to it, with defaults, and the rest does not") {
  apply_test server;
  const std::string last =
      R"({\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\"},)"
      R"(\"spec\":{\"containers\":[{\"image\":\"x\",\"name\":\"c\"}]}})";
  const std::string pods = "/api/v1/namespaces/default/pods";
  // As after admission: with a volume that the client had not applied.
  REQUIRE(server
              .post(pods, R"({"metadata":{"name":"p","annotations":{)"
                          R"("kubectl.kubernetes.io/last-applied-configuration":")" +
                              last +
                              R"("}},"spec":{"containers":[{"image":"x","name":"c","volumeMounts":)"
                              R"([{"name":"t","mountPath":"/t"}]}],"volumes":[{"name":"t"}]}})")
              .status == 201);
  const auto applied = server.apply(pods + "/p", "kubectl",
                                    "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n"
                                    "spec: {containers: [{name: c, image: x}]}\n");
  INFO(applied.text());
  REQUIRE(applied.status == 200);
  const auto all = owners(applied);
  REQUIRE(all.size() == 3);
  for (const auto& each : all) {
    INFO(each);
    const bool rest = each.find("before-first-apply") == 0;
    const bool client_side = each.find("kubectl-client-side-apply Update") == 0;
    for (const char* field : {"f:volumes", "f:volumeMounts"})
      CHECK((each.find(field) != each.npos) == rest);
    for (const char* field : {"f:kubectl.kubernetes.io/last-applied-configuration",
                              "f:restartPolicy", "f:imagePullPolicy"})
      CHECK((each.find(field) != each.npos) == client_side);
    CHECK((each.find("f:image\"") != each.npos) == !rest);
  }
}

TEST_CASE("another write takes ownership of the fields that it changes") {
  apply_test server;
  REQUIRE(server.apply(maps + "/m", "one", map_yaml("a: '1', b: '2'")).status == 201);
  const auto patched =
      server.patch(maps + "/m?fieldManager=editor", "merge", R"({"data":{"b":"9","c":"1"}})");
  CHECK(owners(patched) ==
        std::vector<std::string>{R"(one Apply {"f:data":{"f:a":{}}})",
                                 R"(editor Update {"f:data":{"f:b":{},"f:c":{}}})"});
  const auto conflict = server.apply(maps + "/m", "one", map_yaml("a: '1', b: '2'"));
  CHECK(conflict.at("message") ==
        "Apply failed with 1 conflict: conflict with \"editor\" using v1: .data.b");
  // If omitted in the body they stay; an empty entry ends the tracking.
  const auto kept =
      server.put(maps + "/m", R"({"metadata":{"name":"m"},"data":{"a":"1","b":"9","c":"1"}})");
  CHECK(owners(kept) == owners(patched));
  const auto reset = server.patch(maps + "/m", "merge", R"({"metadata":{"managedFields":[{}]}})");
  CHECK(reset.status == 200);
  CHECK(reset.size("metadata.managedFields") == 0);
}

TEST_CASE("elements of lists are merged by their keys") {
  apply_test server;
  const auto made =
      server.apply(deployments + "/web", "one",
                   deployment_yaml("      - {name: a, image: x, ports: [{containerPort: 80}], "
                                   "resources: {limits: {cpu: 1000m}}}\n"));
  INFO(made.text());
  REQUIRE(made.status == 201);
  CHECK_THAT(
      made.at("metadata.managedFields.0.fieldsV1"),
      Catch::Contains(
          R"("k:{\"name\":\"a\"}":{".":{},"f:image":{},"f:name":{},"f:ports":{"k:{\"containerPort\":80,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{}}})"));
  const auto two =
      server.apply(deployments + "/web", "two", deployment_yaml("      - {name: b, image: y}\n"));
  INFO(two.text());
  REQUIRE(two.status == 200);
  CHECK(two.size("spec.template.spec.containers") == 2);
  // The server's defaults have no owner, and the same quantity in another form is equal.
  const auto again =
      server.apply(deployments + "/web", "one",
                   deployment_yaml("      - {name: a, image: x, ports: [{containerPort: 80}], "
                                   "resources: {limits: {cpu: '1'}}}\n"));
  CHECK(again.at("metadata.resourceVersion") == two.at("metadata.resourceVersion"));
  const auto gone = server.apply(deployments + "/web", "one",
                                 "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n");
  INFO(gone.text());
  CHECK(gone.status == 200);
  CHECK(gone.size("spec.template.spec.containers") == 1);
  CHECK(gone.at("spec.template.spec.containers.0.name") == "b");
}

TEST_CASE("a status is applied apart from the rest") {
  apply_test server;
  REQUIRE(
      server.apply(deployments + "/web", "one", deployment_yaml("      - {name: a, image: x}\n"))
          .status == 201);
  const auto status = server.apply(deployments + "/web/status", "reporter",
                                   "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: "
                                   "web}\nspec: {replicas: 7}\nstatus: {replicas: 4}\n");
  INFO(status.text());
  CHECK(status.status == 200);
  CHECK(status.at("status.replicas") == "4");
  CHECK(status.at("spec.replicas") == "1");
  CHECK(status.at("metadata.managedFields.1.subresource") == "status");
  CHECK(status.at("metadata.managedFields.1.fieldsV1") == R"({"f:status":{"f:replicas":{}}})");
}

TEST_CASE("an apply that cannot be is refused with the reason") {
  apply_test server;
  const auto refused = [&](const std::string& path, const std::string& body) {
    const auto answer = server.apply(path, "one", body);
    return fmt::format("{} {}", answer.status, answer.at("message"));
  };
  const auto nobody = server.request("PATCH", maps + "/m", map_yaml("a: '1'"),
                                     {{"content-type", "application/apply-patch+yaml"}});
  CHECK(nobody.status == 422);
  CHECK_THAT(nobody.at("message"),
             Catch::Contains("fieldManager: Required value: is required for apply patch"));
  CHECK_THAT(refused(maps + "/m", "data: {a: b}"), Catch::StartsWith("400 "));
  CHECK_THAT(refused(maps + "/m", "apiVersion: v1\nkind: Secret\nmetadata: {name: m}"),
             Catch::Contains("400 invalid object type: /v1, Kind=Secret"));
  CHECK(refused(maps + "/m", "{}") == "400 invalid object type: /, Kind=");
  CHECK_THAT(refused(maps + "/m", "a: [b"), Catch::StartsWith("400 error decoding YAML: yaml: "));
  CHECK(refused(deployments + "/web", "apiVersion: apps/v9\nkind: Deployment") ==
        "400 Incorrect version specified in apply patch. Specified patch version: apps/v9, "
        "expected: apps/v1");
  CHECK_THAT(refused(maps + "/other", map_yaml("a: '1'")),
             Catch::StartsWith("400 the name of the object"));
  CHECK_THAT(refused(maps + "/m",
                     "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m, managedFields: "
                     "[{manager: x, operation: Apply}]}"),
             Catch::Contains("400 metadata.managedFields must be nil"));
  CHECK_THAT(refused(deployments + "/web",
                     deployment_yaml("      - {name: a, image: x}\n      - {name: a, image: y}\n")),
             Catch::Contains("500 ") && Catch::Contains("duplicate entries for key [name=\"a\"]"));
  CHECK_THAT(refused(deployments + "/web", deployment_yaml("      - {image: x}\n")),
             Catch::Contains("500 ") && Catch::Contains("omits all key fields"));
  CHECK(server.apply(maps + "/m?dryRun=All", "one", map_yaml("a: '1'")).status == 201);
  CHECK(server.get(maps + "/m").status == 404);
  CHECK_THAT(refused(maps + "/m", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m, uid: u}"),
             Catch::Contains("409 ") && Catch::Contains("uid mismatch"));
}

TEST_CASE("a manager that used client-side apply has no conflicts") {
  apply_test server;
  const std::string annotation =
      R"({\"apiVersion\":\"v1\",\"data\":{\"a\":\"1\"},\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"m\"}})";
  REQUIRE(
      server
          .post(
              maps,
              R"({"metadata":{"name":"m","annotations":{"kubectl.kubernetes.io/last-applied-configuration":")" +
                  annotation + R"("}},"data":{"a":"1","b":"2"}})")
          .status == 201);
  const auto moved = server.apply(maps + "/m", "kubectl", map_yaml("a: '5'"));
  INFO(moved.text());
  CHECK(moved.status == 200);
  CHECK(moved.at("data.a") == "5");
  CHECK_THAT(moved.text(), Catch::Contains(R"(\"a\":\"5\")"));
  const auto other = server.apply(maps + "/m", "kubectl", map_yaml("a: '5', b: '6'"));
  CHECK(other.status == 409);
}

TEST_CASE("a scale is applied, and owns the number of replicas of its object") {
  apply_test server;
  const auto scale = [](const std::string& replicas, const std::string& name = "web") {
    return "apiVersion: autoscaling/v1\nkind: Scale\nmetadata: {name: " + name +
           "}\nspec: {replicas: " + replicas + "}\n";
  };
  const auto container = std::string{"      - {name: a, image: x}\n"};
  const auto with_replicas = [&](const std::string& replicas) {
    auto yaml = deployment_yaml(container);
    return yaml.insert(yaml.find("  selector"), "  replicas: " + replicas + "\n");
  };
  REQUIRE(server.apply(deployments + "/web", "one", with_replicas("3")).status == 201);
  const auto conflict = server.apply(deployments + "/web/scale", "scaler", scale("5"));
  CHECK(conflict.status == 409);
  CHECK(conflict.at("message") ==
        "Apply failed with 1 conflict: conflict with \"one\": .spec.replicas");
  const auto taken = server.apply(deployments + "/web/scale", "scaler", scale("5"), true);
  INFO(taken.text());
  REQUIRE(taken.status == 200);
  CHECK(taken.at("kind") == "Scale");
  CHECK(taken.at("spec.replicas") == "5");
  const auto object = server.get(deployments + "/web");
  CHECK(object.at("spec.replicas") == "5");
  CHECK(object.at("metadata.managedFields.1.manager") == "scaler");
  CHECK(object.at("metadata.managedFields.1.operation") == "Apply");
  CHECK(object.at("metadata.managedFields.1.subresource") == "scale");
  CHECK(object.at("metadata.managedFields.1.apiVersion") == "apps/v1");
  CHECK(object.at("metadata.managedFields.1.fieldsV1") == R"({"f:spec":{"f:replicas":{}}})");
  CHECK_THAT(object.at("metadata.managedFields.0.fieldsV1"), !Catch::Contains("f:replicas"));
  // An apply of the object now conflicts with the scale, unless it omits the number.
  CHECK(server.apply(deployments + "/web", "one", with_replicas("3")).at("message") ==
        "Apply failed with 1 conflict: conflict with \"scaler\" with subresource \"scale\": "
        ".spec.replicas");
  CHECK(server.apply(deployments + "/web", "one", deployment_yaml(container)).status == 200);
  CHECK(server.get(deployments + "/web").at("spec.replicas") == "5");
  // The same apply again changes nothing; another write of the scale takes over the number.
  const auto before = server.get(deployments + "/web").at("metadata.resourceVersion");
  CHECK(server.apply(deployments + "/web/scale", "scaler", scale("5")).status == 200);
  CHECK(server.get(deployments + "/web").at("metadata.resourceVersion") == before);
  CHECK(server
            .patch(deployments + "/web/scale?fieldManager=hand", "merge",
                   R"({"spec":{"replicas":7}})")
            .status == 200);
  CHECK(server.apply(deployments + "/web/scale", "scaler", scale("5")).at("message") ==
        "Apply failed with 1 conflict: conflict with \"hand\" with subresource \"scale\" using "
        "autoscaling/v1: .spec.replicas");
  CHECK(server.apply(deployments + "/none/scale", "scaler", scale("5", "none")).status == 404);
  CHECK(server.apply(deployments + "/web/scale", "scaler", deployment_yaml(container)).status ==
        400);
}

TEST_CASE("the scale of an object that was never applied conflicts with its earlier manager") {
  apply_test server;
  for (const auto* path : {"/api/v1/namespaces/default/replicationcontrollers",
                           "/apis/apps/v1/namespaces/default/replicasets",
                           "/apis/apps/v1/namespaces/default/statefulsets"}) {
    INFO(path);
    const std::string selector =
        std::string{path}.find("/v1/namespaces/default/replicationc") == std::string::npos
            ? R"({"matchLabels":{"a":"b"}})"
            : R"({"a":"b"})";
    REQUIRE(server
                .post(path, R"({"metadata":{"name":"web"},"spec":{"replicas":0,"selector":)" +
                                selector + R"(,"template":{"metadata":{"labels":{"a":"b"}},)" +
                                R"("spec":{"containers":[{"name":"c","image":"x"}]}}}})")
                .status == 201);
    const auto where = std::string{path} + "/web";
    const std::string scale =
        "apiVersion: autoscaling/v1\nkind: Scale\nmetadata: {name: web}\nspec: {replicas: 1}\n";
    CHECK(server.apply(where + "/scale", "scaler", scale).at("message") ==
          "Apply failed with 1 conflict: conflict with \"before-first-apply\" using "
          "autoscaling/v1: .spec.replicas");
    CHECK(server.apply(where + "/scale", "scaler", scale, true).status == 200);
    const auto object = server.get(where);
    CHECK(object.size("metadata.managedFields") == 2);
    CHECK(object.at("metadata.managedFields.0.manager") == "scaler");
    CHECK_THAT(object.at("metadata.managedFields.1.fieldsV1"),
               Catch::Contains("f:template") && !Catch::Contains("f:replicas"));
  }
}

TEST_CASE("a create by one manager and an apply by another conflict as in upstream") {
  apply_test server;
  REQUIRE(server
              .post(maps + "?fieldManager=kubectl-create",
                    R"({"metadata":{"name":"m","labels":{"l":"1"}},"data":{"a":"1"}})")
              .status == 201);
  // Equal values are shared, different ones conflict, new ones are accepted.
  CHECK(server.apply(maps + "/m?dryRun=All", "two", map_yaml("a: '1', b: '2'")).status == 200);
  const auto conflict = server.apply(maps + "/m", "two", map_yaml("a: '2'"));
  CHECK(conflict.status == 409);
  CHECK(conflict.at("details.causes.0.field") == ".data.a");
  // A write before the first apply records only the earlier manager.
  REQUIRE(server.patch(maps + "/m?fieldManager=editor", "merge", R"({"data":{"c":"3"}})").status ==
          200);
  const auto both = server.apply(maps + "/m", "two", map_yaml("a: '2', c: '4'"));
  CHECK(both.at("message") ==
        "Apply failed with 2 conflicts: conflicts with \"before-first-apply\" using v1:\n"
        "- .data.a\n- .data.c");
}
