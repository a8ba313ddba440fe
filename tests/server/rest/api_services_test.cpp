// The APIServices of the server's own groups: those of built-in groups, created when the server
// starts, and those of custom groups, which follow the definitions.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "server/fixtures/rest_fixture.hpp"

using namespace troupe;
using namespace troupe::server::testing;

namespace {

const std::string api_services = "/apis/apiregistration.k8s.io/v1/apiservices";
const std::string definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

std::string version_json(const std::string& name, bool served) {
  return fmt::format(
      R"({{"name":"{}","served":{},"storage":{},"schema":{{"openAPIV3Schema":{{"type":"object"}}}}}})",
      name, served, name == "v1");
}

// A definition with v1, which is served, and v1beta1, which is served if `beta`.
std::string definition_json(const std::string& plural, const std::string& kind, bool beta) {
  return fmt::format(
      R"({{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
          "metadata":{{"name":"{0}.example.com"}},
          "spec":{{"group":"example.com","scope":"Namespaced",
            "names":{{"plural":"{0}","kind":"{1}"}},"versions":[{2},{3}]}}}})",
      plural, kind, version_json("v1", true), version_json("v1beta1", beta));
}

bool is_there(rest_test& server, const std::string& name) {
  return server.get(api_services + "/" + name).status == 200;
}

bool comes(rest_test& server, const std::string& name) {
  return rest_test::eventually([&] { return is_there(server, name); });
}
bool goes(rest_test& server, const std::string& name) {
  return rest_test::eventually([&] { return !is_there(server, name); });
}

}  // namespace

TEST_CASE("the groups that the server has are local API services, with upstream's priorities") {
  rest_test server;
  const auto groups = server.get("/apis");
  std::size_t versions = 1;  // v1
  for (std::size_t i = 0; i < groups.size("groups"); ++i)
    versions += groups.size(fmt::format("groups.{}.versions", i));
  // No APIServices for the aggregator's own group, as upstream, and for metrics-server's group.
  CHECK(server.get(api_services).size("items") == versions - 2);
  CHECK_FALSE(is_there(server, "v1.apiregistration.k8s.io"));
  CHECK_FALSE(is_there(server, "v1beta1.metrics.k8s.io"));
  for (const auto& [name, group, version] :
       {std::tuple{"v1.", "18000", "1"}, std::tuple{"v1.apps", "17800", "15"},
        std::tuple{"v1.autoscaling", "17500", "15"}, std::tuple{"v2.autoscaling", "17500", "30"},
        std::tuple{"v1.flowcontrol.apiserver.k8s.io", "16100", "21"},
        std::tuple{"v1.storage.k8s.io", "16800", "15"}}) {
    INFO(name);
    const auto got = server.get(api_services + "/" + name);
    CHECK(got.status == 200);
    CHECK(got.at("spec.groupPriorityMinimum") == group);
    CHECK(got.at("spec.versionPriority") == version);
    CHECK_FALSE(got.has("spec.service"));
    CHECK(got.at("status.conditions.0.type") == "Available");
    CHECK(got.at("status.conditions.0.status") == "True");
    CHECK(got.at("status.conditions.0.reason") == "Local");
    CHECK(got.at("status.conditions.0.message") == "Local APIServices are always available");
    CHECK(got.text().find(R"("kube-aggregator.kubernetes.io/automanaged":"onstart")") !=
          std::string::npos);
  }
}

TEST_CASE("a start repairs local API services, and leaves those of users alone") {
  rest_test server;
  const auto restart = [&] { REQUIRE(server.api().create_system_objects().has_value()); };
  const auto priority = [&](const std::string& name) {
    return server.get(api_services + "/" + name).at("spec.groupPriorityMinimum");
  };
  const std::string other = R"({"spec":{"groupPriorityMinimum":5}})";
  server.remove(api_services + "/v1.batch");
  REQUIRE(server.patch(api_services + "/v1.apps", "merge", other).status == 200);
  REQUIRE(server
              .patch(api_services + "/v1.policy", "merge",
                     R"({"metadata":{"labels":null},"spec":{"groupPriorityMinimum":5}})")
              .status == 200);
  // A leftover of a release that served more groups.
  REQUIRE(server
              .post(api_services, R"({"metadata":{"name":"v1.gone.example.com","labels":
                  {"kube-aggregator.kubernetes.io/automanaged":"onstart"}},
                  "spec":{"group":"gone.example.com","version":"v1",
                  "groupPriorityMinimum":1,"versionPriority":1}})")
              .status == 201);
  CHECK(server.get("/apis/batch/v1/jobs").status == 200);
  restart();
  CHECK(is_there(server, "v1.batch"));
  CHECK(priority("v1.apps") == "17800");
  CHECK(priority("v1.policy") == "5");
  CHECK_FALSE(is_there(server, "v1.gone.example.com"));
  const auto written = [&] {
    std::vector<std::string> revisions;
    const auto list = server.get(api_services);
    for (std::size_t i = 0; i < list.size("items"); ++i)
      revisions.push_back(list.at(fmt::format("items.{}.metadata.resourceVersion", i)));
    return revisions;
  };
  const auto before = written();
  restart();
  CHECK(written() == before);
}

TEST_CASE("a version of a custom group is a local API service as long as a definition serves it") {
  rest_test server{{.simulated_nodes = 1}};
  REQUIRE(server.post(definitions, definition_json("cats", "Cat", true)).status == 201);
  REQUIRE(server.post(definitions, definition_json("dogs", "Dog", false)).status == 201);
  REQUIRE(comes(server, "v1.example.com"));
  REQUIRE(comes(server, "v1beta1.example.com"));
  const auto made = server.get(api_services + "/v1.example.com");
  CHECK(made.at("spec.groupPriorityMinimum") == "1000");
  CHECK(made.at("spec.versionPriority") == "100");
  CHECK(made.at("status.conditions.0.reason") == "Local");
  CHECK(made.text().find(R"("kube-aggregator.kubernetes.io/automanaged":"true")") !=
        std::string::npos);

  // A deleted or changed APIService is restored.
  server.remove(api_services + "/v1.example.com");
  REQUIRE(comes(server, "v1.example.com"));
  server.patch(api_services + "/v1.example.com", "merge", R"({"spec":{"versionPriority":7}})");
  CHECK(rest_test::eventually([&] {
    return server.get(api_services + "/v1.example.com").at("spec.versionPriority") == "100";
  }));

  server.remove(definitions + "/cats.example.com");
  CHECK(goes(server, "v1beta1.example.com"));
  CHECK(is_there(server, "v1.example.com"));
  server.remove(definitions + "/dogs.example.com");
  CHECK(goes(server, "v1.example.com"));
}

TEST_CASE("an API service that a user made for the group of a definition is left alone") {
  rest_test server{{.simulated_nodes = 1}};
  REQUIRE(server
              .post(api_services, R"({"metadata":{"name":"v1.example.com"},
                  "spec":{"group":"example.com","version":"v1","groupPriorityMinimum":2000,
                  "versionPriority":15,"service":{"namespace":"default","name":"ext"}}})")
              .status == 201);
  REQUIRE(server.post(definitions, definition_json("cats", "Cat", true)).status == 201);
  REQUIRE(comes(server, "v1beta1.example.com"));
  CHECK(server.get(api_services + "/v1.example.com").at("spec.versionPriority") == "15");
  // After its deletion the definition's APIService replaces it.
  server.remove(api_services + "/v1.example.com");
  CHECK(rest_test::eventually([&] {
    return server.get(api_services + "/v1.example.com").at("spec.versionPriority") == "100";
  }));
}
