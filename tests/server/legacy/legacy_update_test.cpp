// Updates by clients of 2014: fields that they omit, or cannot express, are not removed.
#include <catch2/catch.hpp>
#include <map>
#include <string>

#include "server/fixtures/legacy_fixture.hpp"
#include "support/legacy_manifests.hpp"

namespace troupe::server {

using testing::controllers_of_today;
using testing::json_text;
using testing::legacy_test;
using testing::pods_of_today;
using testing::rest_answer;
using testing::services_of_today;

namespace {

// The text without `"name":` and its value, which is a string, or an object without others in it.
std::string without(std::string text, const std::string& name) {
  for (auto at = text.find("\"" + name + "\":"); at != text.npos;
       at = text.find("\"" + name + "\":")) {
    const auto value = at + name.size() + 3;
    auto end = text.find(text[value] == '{' ? '}' : '"', value + 1) + 1;
    if (text[value] != '{' && text[value] != '"') end = text.find_first_of(",}", value);
    if (text[end] == ',')
      ++end;
    else
      --at;
    text.erase(at, end - at);
  }
  return text;
}

std::string with(std::string text, const std::string& label, const std::string& instead) {
  const auto at = text.find(label);
  REQUIRE(at != text.npos);
  return text.replace(at, label.size(), instead);
}

void check_updated(const rest_answer& answer) {
  INFO(answer.text());
  CHECK(answer.status == 200);
}

}  // namespace

TEST_CASE("every manifest of 2014 may be put over the object that it made") {
  static const std::map<std::string, std::string> paths = {
      {"Pod", "/pods"},
      {"ReplicationController", "/replicationControllers"},
      {"Service", "/services"}};
  for (const auto& manifest : test::legacy_manifests()) {
    legacy_test api{{.simulated_nodes = 3}};
    for (const auto& text : manifest.objects) {
      INFO(manifest.name);
      const auto made = api.old("POST", paths.at(manifest.kind), text);
      const auto path = paths.at(manifest.kind) + "/" + made.at("id");
      if (manifest.kind == "Pod") {
        REQUIRE(legacy_test::eventually(
            [&] { return api.old("GET", path).at("currentState.status") == "Running"; }));
      }
      for (int times = 0; times < 2; ++times) {
        check_updated(api.old("PUT", path, text));
        check_updated(api.old_v02("PUT", path, text));
      }
      const auto now = api.old("GET", path);
      for (const auto* path : {"labels", "desiredState.manifest.containers", "port", "protocol",
                               "portalIP", "sessionAffinity", "containerPort", "uid"})
        CHECK(now.at(path) == made.at(path));
      CHECK(now.at("desiredState.manifest.uuid") == made.at("desiredState.manifest.uuid"));
    }
  }
}

TEST_CASE("a service is updated without the address that the server gave it") {
  legacy_test api;
  const auto made = api.old("POST", "/services", R"({"id":"web","port":80,"protocol":"UDP",
      "sessionAffinity":"ClientIP","selector":{"app":"web"}})");
  REQUIRE(made.status == 200);
  check_updated(api.old("PUT", "/services/web", R"({"id":"web","port":81})"));
  const auto now = api.get(std::string{services_of_today} + "/web");
  CHECK(now.at("spec.clusterIP") == made.at("portalIP"));
  CHECK(now.at("spec.ports.0.port") == "81");
  CHECK(now.at("spec.ports.0.protocol") == "UDP");
  CHECK(now.at("spec.sessionAffinity") == "ClientIP");
  CHECK(now.size("spec.selector") == 0);
  // Another address is still refused.
  CHECK(api.old("PUT", "/services/web", R"({"id":"web","port":81,"portalIP":"10.0.0.9"})").status ==
        422);
}

TEST_CASE("the first of several ports keeps its name when its number changes") {
  legacy_test api;
  REQUIRE(api.post(services_of_today, R"({"metadata":{"name":"web"},"spec":{"ports":[
      {"name":"http","port":80},{"name":"https","port":443,"targetPort":8443}]}})")
              .status == 201);
  const auto shown = api.old("GET", "/services/web").text();
  check_updated(api.old("PUT", "/services/web", with(shown, "\"port\":80", "\"port\":8080")));
  const auto now = api.get(std::string{services_of_today} + "/web");
  CHECK(now.size("spec.ports") == 2);
  CHECK(now.at("spec.ports.0.name") == "http");
  CHECK(now.at("spec.ports.0.port") == "8080");
  CHECK(now.at("spec.ports.0.targetPort") == "80");
  CHECK(now.at("spec.ports.1.name") == "https");
  CHECK(now.at("spec.ports.1.targetPort") == "8443");
  CHECK(api.old("PUT", "/services/web", R"({"port":443})").status == 422);
}

TEST_CASE("a pod that runs is updated from its file") {
  legacy_test api{{.simulated_nodes = 1}};
  const std::string file = R"({"kind":"Pod","apiVersion":"v1beta1","id":"web","labels":{"a":"1"},
      "desiredState":{"manifest":{"version":"v1beta1","id":"web",
      "containers":[{"name":"c","image":"nginx"}]}}})";
  REQUIRE(api.old("POST", "/pods", file).status == 200);
  REQUIRE(legacy_test::eventually(
      [&] { return api.old("GET", "/pods/web").at("currentState.status") == "Running"; }));
  const auto node = api.old("GET", "/pods/web").at("desiredState.host");
  check_updated(api.old("PUT", "/pods/web", with(file, R"("a":"1")", R"("a":"2")")));
  const auto now = api.old("GET", "/pods/web");
  CHECK(now.at("labels.a") == "2");
  CHECK(now.at("desiredState.host") == node);
  CHECK(now.at("desiredState.manifest.uuid") == now.at("uid"));
  const auto today = api.get(std::string{pods_of_today} + "/web");
  INFO(today.text());
  CHECK(today.size("metadata.annotations") == 0);
}

TEST_CASE(
    "a controller keeps fields that are unknown to the version of the client that resizes it") {
  legacy_test api;
  REQUIRE(api.post(controllers_of_today, R"({"metadata":{"name":"web"},"spec":{"replicas":1,
      "template":{"metadata":{"labels":{"app":"web"}},"spec":{"nodeSelector":{"disk":"ssd"},
      "containers":[{"name":"c","image":"x:1","imagePullPolicy":"Never",
      "securityContext":{"privileged":true}}]}}}})")
              .status == 201);
  const auto shown = with(api.old("GET", "/replicationControllers/web").text(), "\"replicas\":1",
                          "\"replicas\":0");
  const auto v06 = with(shown, R"("containers")", R"("ignored":0,"containers")");
  const auto v04 = without(without(without(shown, "nodeSelector"), "uid"), "annotations");
  auto v02 = without(without(v04, "namespace"), "imagePullPolicy");
  v02 = with(v02, R"(,"privileged":true)", "");
  const auto path = std::string{controllers_of_today} + "/web";
  const auto held = [&] {
    const auto now = api.get(path);
    INFO(now.text());
    CHECK(now.at("spec.replicas") == "0");
    CHECK(now.at("spec.template.spec.nodeSelector.disk") == "ssd");
    CHECK(now.at("spec.template.spec.containers.0.imagePullPolicy") == "Never");
    CHECK(now.at("spec.template.spec.containers.0.securityContext.privileged") == "true");
  };
  check_updated(api.old("PUT", "/replicationControllers/web", without(v06, "resourceVersion")));
  held();
  check_updated(api.old("PUT", "/replicationControllers/web", without(v04, "resourceVersion")));
  held();
  check_updated(api.old("PUT", "/replicationControllers/web", without(v02, "resourceVersion")));
  held();
  check_updated(api.old_v02("PUT", "/replicationControllers/web",
                            without(without(v02, "selfLink"), "resourceVersion")));
  held();

  // Another image with another default, by v0.2: fields that were set stay.
  check_updated(api.old_v02("PUT", "/replicationControllers/web",
                            with(without(v02, "resourceVersion"), "x:1", "x")));
  held();

  // A client that knows the fields can remove them.
  check_updated(api.old("PUT", "/replicationControllers/web",
                        without(without(v06, "nodeSelector"), "resourceVersion")));
  CHECK(api.get(path).size("spec.template.spec.nodeSelector") == 0);
  const auto plain = with(without(v04, "imagePullPolicy"), R"(,"privileged":true)", "");
  check_updated(api.old("PUT", "/replicationControllers/web", without(plain, "resourceVersion")));
  CHECK(api.get(path).at("spec.template.spec.containers.0.imagePullPolicy") == "IfNotPresent");
  CHECK(api.get(path).size("spec.template.spec.containers.0.securityContext") == 0);
}

}  // namespace troupe::server
