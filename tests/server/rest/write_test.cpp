#include <fmt/format.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "api/codec/codec.hpp"
#include "api/schema/core_config.pb.h"
#include "api/scheme.hpp"
#include "server/fixtures/rest_fixture.hpp"

using namespace troupe;
using namespace troupe::server::testing;

namespace {

const std::string pods = "/api/v1/namespaces/default/pods";
const std::string maps = "/api/v1/namespaces/default/configmaps";
const std::string controllers = "/api/v1/namespaces/default/replicationcontrollers";

std::string map_json(const std::string& name, const std::string& value,
                     const std::string& meta = {}) {
  return fmt::format(
      R"({{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"{}"{}}},"data":{{"k":"{}"}}}})",
      name, meta, value);
}

const char* controller_json =
    R"({"metadata":{"name":"rc"},"spec":{"replicas":2,"template":{"metadata":{"labels":{"a":"b"}},
        "spec":{"containers":[{"name":"c","image":"i"}]}}}})";

}  // namespace

TEST_CASE("a created object has identity, defaults and a revision") {
  rest_test server;
  const auto pod = server.create_pod("web");
  CHECK(pod.at("metadata.uid").size() == 36);
  CHECK(pod.has("metadata.creationTimestamp"));
  CHECK(pod.at("spec.restartPolicy") == "Always");
  CHECK(pod.at("spec.serviceAccountName") == "default");
  CHECK(pod.size("spec.tolerations") == 2);
  CHECK(pod.at("status.phase") == "Pending");
  const auto again = server.post(pods, pod_json("web"));
  CHECK(again.status == 409);
  CHECK(again.at("reason") == "AlreadyExists");
  CHECK(again.at("message") == "pods \"web\" already exists");
}

TEST_CASE("a name is made where only its beginning is given") {
  rest_test server;
  const auto body = R"({"metadata":{"generateName":"web-"},"data":{"k":"v"}})";
  const auto one = server.post(maps, body);
  const auto two = server.post(maps, body);
  CHECK(one.status == 201);
  CHECK(one.at("metadata.name").size() == 9);
  CHECK(one.at("metadata.name") != two.at("metadata.name"));
  CHECK(server.post(maps, R"({"metadata":{}})").status == 422);
}

TEST_CASE("an invalid object is refused with its fields") {
  rest_test server;
  const auto bad = server.post(pods, R"({"metadata":{"name":"Web"},"spec":{"containers":[{}]}})");
  CHECK(bad.status == 422);
  CHECK(bad.at("reason") == "Invalid");
  CHECK_THAT(bad.at("message"), Catch::Contains("metadata.name: Invalid value: \"Web\""));
  CHECK_THAT(bad.at("message"), Catch::Contains("spec.containers[0].name: Required value"));
  CHECK(server.post(pods, "{").status == 400);
  CHECK(server.post(pods, R"({"kind":"Service","apiVersion":"v1"})").status == 400);
  CHECK(server.post(pods, "x", {{"content-type", "text/plain"}}).status == 415);
  const auto space =
      server.post(pods, R"({"metadata":{"name":"web","namespace":"other"},"spec":{}})");
  CHECK(space.status == 400);
  CHECK_THAT(space.at("message"), Catch::Contains("does not match the namespace"));
  const auto version =
      server.post(maps, R"({"metadata":{"name":"a","resourceVersion":"7"},"data":{}})");
  CHECK(version.status == 400);
}

TEST_CASE("unknown fields are ignored, reported or refused as the client requests") {
  rest_test server;
  const auto body = [](const char* name) {
    return fmt::format(R"({{"metadata":{{"name":"{}"}},"dat":{{}},"data":{{"k":"v"}}}})", name);
  };
  const auto ignored = server.post(maps + "?fieldValidation=Ignore", body("a"));
  CHECK(ignored.status == 201);
  CHECK_FALSE(ignored.headers.contains("warning"));
  const auto answer = server.post(maps, body("b"));
  CHECK(answer.status == 201);
  CHECK(answer.headers.at("warning") == "299 - \"unknown field \\\"dat\\\"\"");
  // Clients of HTTP/2 refuse a response with a control character in a header field.
  CHECK(server
            .post(maps, R"({"metadata":{"name":"e"},"d)"
                        "\x7f"
                        R"(t":1})")
            .headers.at("warning") == "299 - \"unknown field \\\"dt\\\"\"");
  const auto refused = server.post(maps + "?fieldValidation=Strict", body("c"));
  CHECK(refused.status == 400);
  CHECK_THAT(refused.at("message"), Catch::Contains("unknown field \"dat\""));
  CHECK(server.post(maps + "?fieldValidation=Maybe", body("d")).status == 422);
}

TEST_CASE("duplicate fields in a patch are ignored, reported or refused as the client requests") {
  rest_test server;
  server.post(maps, map_json("a", "v"));
  const std::string twice = R"({"data":{"k":"1","k":"2"}})";
  for (const std::string form : {"merge", "strategic"}) {
    const auto path = maps + "/a?fieldValidation=";
    CHECK_FALSE(server.patch(path + "Ignore", form, twice).headers.contains("warning"));
    auto answer = server.patch(path + "Warn", form, twice);
    CHECK(answer.at("data.k") == "2");
    CHECK(answer.headers["warning"] == R"(299 - "duplicate field \"data.k\"")");
    const auto refused = server.patch(path + "Strict", form, twice);
    CHECK(refused.status == 400);
    CHECK(refused.at("message") == "strict decoding error: duplicate field \"data.k\"");
  }
}

TEST_CASE("unknown and duplicate members of JSON patches are handled as the client requests") {
  rest_test server;
  server.post(maps, map_json("a", "v"));
  const auto path = maps + "/a?fieldValidation=";
  const std::string extra = R"([{"op":"add","path":"/data/x","value":"1","foo":2}])";
  CHECK_FALSE(server.patch(path + "Ignore", "json", extra).headers.contains("warning"));
  auto warned = server.patch(path + "Warn", "json", extra);
  CHECK(warned.status == 200);
  CHECK(warned.headers["warning"] == R"(299 - "json patch unknown field \"[0].foo\"")");
  const auto refused = server.patch(path + "Strict", "json",
                                    R"([{"op":"add","path":"/data/x","value":"1","foo":2},)"
                                    R"({"op":"add","path":"/data/y","path":"/none","value":1}])");
  CHECK(refused.status == 400);
  CHECK(refused.at("message") ==
        "strict decoding error: json patch unknown field \"[0].foo\", json patch duplicate field "
        "\"[1].path\", unknown field \"none\"");
  // The last one counts.
  CHECK(server
            .patch(path + "Ignore", "json",
                   R"([{"op":"add","path":"/data/y","path":"/data/z","value":"1"}])")
            .at("data") == R"({"k":"v","x":"1","z":"1"})");
}

TEST_CASE("an object that is put somewhere says its name") {
  rest_test server;
  server.post(maps, map_json("a", "v"));
  const auto nameless = server.put(maps + "/a", R"({"data":{"k":"w"}})");
  CHECK(nameless.status == 400);
  CHECK(nameless.at("message") ==
        "the name of the object (a based on URL) was undeterminable: name must be provided");
  CHECK(server.get(maps + "/a").at("data.k") == "v");
}

TEST_CASE("bodies may be YAML and protobuf") {
  rest_test server;
  const auto yaml = server.post(maps, "metadata: {name: y}\ndata:\n  k: v\n",
                                {{"content-type", "application/yaml"}});
  CHECK(yaml.status == 201);
  api::core::v1::ConfigMap map;
  map.mutable_metadata()->set_name("p");
  (*map.mutable_data())["k"] = "v";
  const auto wire = server.post(maps, api::encode_protobuf(map, "v1", "ConfigMap"),
                                {{"content-type", "application/vnd.kubernetes.protobuf"}});
  CHECK(wire.status == 201);
  CHECK(wire.at("data.k") == "v");
}

TEST_CASE("a dry run answers as if, and changes nothing") {
  rest_test server;
  // The parameter is set but empty: it is safer to write nothing.
  const auto vague = server.post(maps + "?dryRun=", map_json("vague", "v"));
  CHECK(vague.status == 422);
  CHECK_THAT(vague.at("message"), Catch::Contains("dryRun: Unsupported value: \"\""));
  CHECK(server.get(maps + "/vague").status == 404);
  const auto before = server.store().read().at();
  const auto made = server.post(maps + "?dryRun=All", map_json("a", "1"));
  CHECK(made.status == 201);
  CHECK(made.at("metadata.uid").size() == 36);
  CHECK(server.get(maps + "/a").status == 404);
  CHECK(server.store().read().at() == before);
  server.post(maps, map_json("a", "1"));
  CHECK(server.put(maps + "/a?dryRun=All", map_json("a", "2")).at("data.k") == "2");
  CHECK(server.remove(maps + "/a?dryRun=All").status == 200);
  CHECK(server.get(maps + "/a").at("data.k") == "1");
  CHECK(server.post(maps + "?dryRun=Some", map_json("b", "1")).status == 422);
}

TEST_CASE("an update needs the present revision, or none") {
  rest_test server;
  const auto first = server.post(maps, map_json("a", "1")).at("metadata.resourceVersion");
  const auto second = server.put(maps + "/a", map_json("a", "2"));
  CHECK(second.status == 200);
  const auto stale =
      server.put(maps + "/a", map_json("a", "3", R"(,"resourceVersion":")" + first + R"(")"));
  CHECK(stale.status == 409);
  CHECK(stale.at("reason") == "Conflict");
  CHECK_THAT(stale.at("message"), Catch::Contains("the object has been modified"));
  const auto fresh = server.put(
      maps + "/a",
      map_json("a", "3",
               R"(,"resourceVersion":")" + second.at("metadata.resourceVersion") + R"(")"));
  CHECK(fresh.status == 200);
  CHECK(fresh.at("metadata.uid") == second.at("metadata.uid"));
  const auto uid = server.put(maps + "/a", map_json("a", "4", R"(,"uid":"other")"));
  CHECK(uid.status == 409);
  CHECK(server.put(maps + "/b", map_json("b", "1")).status == 404);
  CHECK(server.put(maps + "/a", map_json("b", "1")).status == 400);
}

TEST_CASE("an update that changes nothing makes no revision") {
  rest_test server;
  const auto made = server.post(maps, map_json("a", "1"));
  const auto same = server.put(maps + "/a", map_json("a", "1"));
  CHECK(same.status == 200);
  CHECK(same.at("metadata.resourceVersion") == made.at("metadata.resourceVersion"));
}

TEST_CASE("of two updates at one revision exactly one wins") {
  rest_test server;
  const auto at = server.post(maps, map_json("a", "0")).at("metadata.resourceVersion");
  std::atomic<int> won{0}, lost{0};
  std::vector<std::thread> clients;
  for (int i = 0; i < 8; ++i)
    clients.emplace_back([&, i] {
      test::http_client client{server.where()};
      const auto answer = client.request(
          "PUT", maps + "/a",
          map_json("a", std::to_string(i + 1), R"(,"resourceVersion":")" + at + R"(")"),
          {{"content-type", "application/json"}});
      ++(answer.status == 200 ? won : lost);
    });
  for (auto& client : clients)
    client.join();
  CHECK(won == 1);
  CHECK(lost == 7);
}

TEST_CASE("a lease may be created by writing it") {
  rest_test server;
  const auto made = server.put("/apis/coordination.k8s.io/v1/namespaces/default/leases/l",
                               R"({"metadata":{"name":"l"},"spec":{"holderIdentity":"me"}})");
  CHECK(made.status == 201);
  CHECK(made.at("spec.holderIdentity") == "me");
}

TEST_CASE("an object is changed by each kind of patch") {
  rest_test server;
  server.create_pod("web");
  const auto merged =
      server.patch(pods + "/web", "merge", R"({"metadata":{"labels":{"app":null,"x":"y"}}})");
  CHECK(merged.status == 200);
  CHECK(merged.at("metadata.labels") == R"({"x":"y"})");
  const auto listed = server.patch(pods + "/web", "json",
                                   R"([{"op":"add","path":"/metadata/labels/z","value":"1"}])");
  CHECK(listed.at("metadata.labels.z") == "1");
  const auto strategic = server.patch(
      pods + "/web", "strategic", R"({"spec":{"containers":[{"name":"c","image":"nginx:2"}]}})");
  CHECK(strategic.at("spec.containers.0.image") == "nginx:2");
  CHECK(strategic.size("spec.containers") == 1);

  CHECK(server.patch(pods + "/none", "merge", "{}").status == 404);
  CHECK(server.patch(pods + "/web", "merge", R"({"spec":{"nodeName":"n"}})").status == 422);
  CHECK(server.patch(pods + "/web", "json", R"([{"op":"remove","path":"/nothing"}])").status ==
        422);
  CHECK(server.patch(pods + "/web", "merge", R"({"metadata":{"resourceVersion":"1"}})").status ==
        409);
  CHECK(
      server.request("PATCH", pods + "/web", "{}", {{"content-type", "application/json"}}).status ==
      415);
}

TEST_CASE("patches that meet each other are all applied") {
  rest_test server;
  server.post(maps, map_json("a", "0"));
  constexpr int count = 16;
  std::vector<std::thread> clients;
  std::atomic<int> fine{0};
  for (int i = 0; i < count; ++i)
    clients.emplace_back([&, i] {
      test::http_client client{server.where()};
      for (int attempt = 0; attempt < 10; ++attempt) {
        const auto answer =
            client.request("PATCH", maps + "/a", fmt::format(R"({{"data":{{"k{}":"v"}}}})", i),
                           {{"content-type", "application/merge-patch+json"}});
        if (answer.status != 200) continue;
        ++fine;
        return;
      }
    });
  for (auto& client : clients)
    client.join();
  CHECK(fine == count);
  CHECK(server.get(maps + "/a").size("data") == count + 1);
}

TEST_CASE("status and the rest are written apart") {
  rest_test server;
  REQUIRE(server.post(controllers, controller_json).status == 201);
  const auto status = server.patch(controllers + "/rc/status", "merge",
                                   R"({"spec":{"replicas":9},"status":{"replicas":1}})");
  CHECK(status.status == 200);
  CHECK(status.at("status.replicas") == "1");
  CHECK(status.at("spec.replicas") == "2");
  CHECK(status.at("metadata.generation") == "1");
  const auto spec = server.patch(controllers + "/rc", "merge",
                                 R"({"spec":{"replicas":3},"status":{"replicas":7}})");
  CHECK(spec.at("spec.replicas") == "3");
  CHECK(spec.at("status.replicas") == "1");
  CHECK(spec.at("metadata.generation") == "2");
  CHECK(server.get(controllers + "/rc/status").at("kind") == "ReplicationController");
}

TEST_CASE("scalable kinds have the subresource scale") {
  rest_test server;
  REQUIRE(server.post(controllers, controller_json).status == 201);
  const auto scale = server.get(controllers + "/rc/scale");
  CHECK(scale.at("kind") == "Scale");
  CHECK(scale.at("apiVersion") == "autoscaling/v1");
  CHECK(scale.at("spec.replicas") == "2");
  CHECK(scale.at("status.selector") == "a=b");
  const auto patched =
      server.patch(controllers + "/rc/scale", "merge", R"({"spec":{"replicas":5}})");
  CHECK(patched.at("spec.replicas") == "5");
  const auto put =
      server.put(controllers + "/rc/scale", R"({"metadata":{"name":"rc","resourceVersion":")" +
                                                scale.at("metadata.resourceVersion") +
                                                R"("},"spec":{"replicas":1}})");
  CHECK(put.status == 409);
  CHECK(server.put(controllers + "/rc/scale", R"({"metadata":{"name":"rc"},"spec":{}})")
            .at("spec.replicas") == "");
  CHECK(server.get(controllers + "/rc").at("spec.replicas") == "0");
  CHECK(server.patch(controllers + "/rc/scale", "merge", R"({"spec":{"replicas":-1}})").status ==
        422);
  CHECK(server.get(controllers + "/none/scale").status == 404);
}

TEST_CASE("nothing is created in a namespace that is missing or ending") {
  rest_test server;
  const auto missing = server.post("/api/v1/namespaces/none/pods", pod_json("web"));
  CHECK(missing.status == 404);
  CHECK(missing.at("message") == "namespaces \"none\" not found");
  REQUIRE(server.post("/api/v1/namespaces", R"({"metadata":{"name":"short"}})").status == 201);
  server.create_pod("web", R"({"a":"b"})", "short");
  const auto ending = server.remove("/api/v1/namespaces/short");
  CHECK(ending.status == 200);
  CHECK(ending.at("status.phase") == "Terminating");
  const auto refused = server.post("/api/v1/namespaces/short/pods", pod_json("other"));
  CHECK(refused.status == 403);
  CHECK(refused.at("details.causes.0.reason") == "NamespaceTerminating");
  const auto finalized = server.put("/api/v1/namespaces/short/finalize",
                                    R"({"metadata":{"name":"short"},"spec":{"finalizers":[]}})");
  CHECK(finalized.status == 200);
  CHECK(server.get("/api/v1/namespaces/short").status == 404);
}
