// Discovery: the names and order of upstream, the same in both forms, and consistent with the
// served paths.
#include <fmt/format.h>
#include <rapidjson/document.h>

#include <catch2/catch.hpp>
#include <set>
#include <vector>

#include "api/schema/openapi_v2.pb.h"
#include "server/fixtures/rest_fixture.hpp"

using namespace troupe;
using namespace troupe::server::testing;
using Catch::Matchers::Contains;

namespace {

const test::http_client::fields aggregated{
    {"accept", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"}};

rapidjson::Document parsed(const rest_answer& answer) {
  REQUIRE(answer.status == 200);
  rapidjson::Document document;
  REQUIRE_FALSE(document.Parse(answer.text().c_str()).HasParseError());
  return document;
}

std::string text(const rapidjson::Value& of, const char* name) {
  return of.HasMember(name) ? of[name].GetString() : "";
}

std::string joined(const rapidjson::Value& of, const char* name) {
  std::string all;
  if (!of.HasMember(name)) return all;
  for (const auto& each : of[name].GetArray())
    all += std::string{each.GetString()} + " ";
  return all;
}

struct resource {
  std::string at;    // "v1", "apps/v1"
  std::string name;  // "pods/log"
  bool namespaced = false;
  std::string kind;   // with its group and version
  std::string verbs;  // each followed by a blank
  std::string names;
  auto operator<=>(const resource&) const = default;
};

std::string names_of(const rapidjson::Value& of) {
  return joined(of, "shortNames") + "/ " + joined(of, "categories");
}

std::vector<resource> plain_resources(rest_test& server, const std::string& path,
                                      const std::string& version) {
  std::vector<resource> found;
  const auto list = parsed(server.get(path + version));
  const auto slash = version.find('/');
  for (const auto& each : list["resources"].GetArray()) {
    const bool own = !each.HasMember("version");
    const auto group = !own                    ? text(each, "group")
                       : slash == version.npos ? ""
                                               : version.substr(0, slash);
    const auto of = own ? version.substr(slash + 1) : text(each, "version");
    found.push_back({version, text(each, "name"), each["namespaced"].GetBool(),
                     group + "/" + of + " " + text(each, "kind"), joined(each, "verbs"),
                     names_of(each)});
  }
  return found;
}

std::vector<resource> plain_resources(rest_test& server) {
  auto found = plain_resources(server, "/api/", "v1");
  const auto groups = parsed(server.get("/apis"));
  for (const auto& group : groups["groups"].GetArray())
    for (const auto& version : group["versions"].GetArray())
      for (auto& each : plain_resources(server, "/apis/", text(version, "groupVersion")))
        found.push_back(std::move(each));
  return found;
}

std::string kind_in(const rapidjson::Value& of) {
  const auto& kind = of["responseKind"];
  return text(kind, "group") + "/" + text(kind, "version") + " " + text(kind, "kind");
}

std::vector<resource> aggregated_resources(rest_test& server) {
  std::vector<resource> found;
  for (const std::string root : {"/api", "/apis"}) {
    const auto list = parsed(server.get(root, aggregated));
    for (const auto& group : list["items"].GetArray())
      for (const auto& version : group["versions"].GetArray()) {
        const auto name = text(group["metadata"], "name");
        const auto at = (name.empty() ? "" : name + "/") + text(version, "version");
        for (const auto& each : version["resources"].GetArray()) {
          const bool namespaced = text(each, "scope") == "Namespaced";
          found.push_back({at, text(each, "resource"), namespaced, kind_in(each),
                           joined(each, "verbs"), names_of(each)});
          if (!each.HasMember("subresources")) continue;
          for (const auto& part : each["subresources"].GetArray())
            found.push_back({at, text(each, "resource") + "/" + text(part, "subresource"),
                             namespaced, kind_in(part), joined(part, "verbs"), "/ "});
        }
      }
  }
  return found;
}

// The target of a verb: a missing object, or the empty result of a selector.
rest_answer ask(rest_test& server, const resource& of, const std::string& verb) {
  const auto slash = of.name.find('/');
  const bool part = slash != of.name.npos;
  const auto all = (of.at.find('/') == of.at.npos ? "/api/" : "/apis/") + of.at +
                   (of.namespaced ? "/namespaces/default/" : "/") + of.name.substr(0, slash);
  const auto one = all + "/none" + (part ? of.name.substr(slash) : "");
  const std::string nothing = "?labelSelector=none%3Dnone";
  if (verb == "get") return server.get(one);
  if (verb == "list") return server.get(all + nothing);
  if (verb == "create") return server.post(part ? one : all, "{}");
  if (verb == "update") return server.put(one, "{}");
  if (verb == "patch") return server.patch(one, "merge", "{}");
  if (verb == "delete") return server.remove(one);
  if (verb == "deletecollection") return server.remove(all + nothing);
  REQUIRE(verb == "watch");
  return server.get(all + nothing + "&watch=1&timeoutSeconds=1&resourceVersion=1");
}

// Whether the response is about an object and not about the path.
bool is_served(const rest_answer& answer) {
  if (answer.status == 405) return false;
  return answer.status != 404 || answer.has("details.name");
}

std::size_t schemas_with_values(const api::openapi::v2::Schema& of) {
  std::size_t count = of.enum_value_size() > 0 ? 1 : 0;
  for (const auto& each : of.properties().additional_properties())
    count += schemas_with_values(each.value());
  for (const auto& each : of.items().schema())
    count += schemas_with_values(each);
  if (of.additional_properties().has_schema())
    count += schemas_with_values(of.additional_properties().schema());
  return count;
}

}  // namespace

TEST_CASE("both forms of discovery say the same") {
  rest_test server;
  auto plain = plain_resources(server);
  CHECK(plain.size() > 100);
  CHECK(plain == aggregated_resources(server));
}

TEST_CASE("listed resources answer exactly their verbs") {
  rest_test server;
  std::vector<std::string> wrong;
  for (const auto& each : plain_resources(server)) {
    if (each.name == "serviceaccounts/token") continue;  // this server has no keys
    for (const std::string verb :
         {"get", "list", "create", "update", "patch", "delete", "deletecollection"}) {
      const bool part = each.name.find('/') != each.name.npos;
      if (part && (verb == "list" || verb == "deletecollection")) continue;
      const bool listed = each.verbs.find(verb + " ") != each.verbs.npos;
      const auto answer = ask(server, each, verb);
      if (is_served(answer) != listed)
        wrong.push_back(
            fmt::format("{} {} {}: {} {}", each.at, each.name, verb, answer.status, answer.text()));
    }
  }
  INFO(fmt::format("{}", fmt::join(wrong, "\n")));
  CHECK(wrong.empty());
}

TEST_CASE("every resource listed with the verb watch can be watched") {
  rest_test server;
  for (const auto& each : plain_resources(server)) {
    if (each.verbs.find("watch ") == each.verbs.npos) continue;
    INFO(each.at << " " << each.name);
    const auto path =
        fmt::format("{}{}{}{}?watch=1", each.at.find('/') == each.at.npos ? "/api/" : "/apis/",
                    each.at, each.namespaced ? "/namespaces/default/" : "/", each.name);
    CHECK(watching{server.where(), path}.status() == 200);
  }
}

TEST_CASE("discovery has the fields of upstream in their order") {
  rest_test server;
  const auto core = server.get("/api/v1").text();
  CHECK_THAT(core, Catch::StartsWith(
                       R"({"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":)"));
  CHECK_THAT(
      core,
      Contains(
          R"({"name":"pods","singularName":"pod","namespaced":true,"kind":"Pod","verbs":["create",)"
          R"("delete","deletecollection","get","list","patch","update","watch"],"shortNames":["po"],)"
          R"("categories":["all"],"storageVersionHash":"xPOwRZ+Yhw8="},{"name":"pods/attach",)"
          R"("singularName":"","namespaced":true,"kind":"PodAttachOptions","verbs":["create",)"
          R"("get"]},{"name":"pods/binding",)"));
  for (const char* part :
       {R"({"name":"pods/exec","singularName":"","namespaced":true,"kind":"PodExecOptions",)"
        R"("verbs":["create","get"]},{"name":"pods/log",)",
        R"({"name":"pods/portforward","singularName":"","namespaced":true,)"
        R"("kind":"PodPortForwardOptions","verbs":["create","get"]},{"name":"pods/proxy",)",
        R"({"name":"replicationcontrollers/scale","singularName":"","namespaced":true,)"
        R"("group":"autoscaling","version":"v1","kind":"Scale","verbs":["get","patch","update"]})"})
    CHECK_THAT(core, Contains(part));
  CHECK_THAT(server.get("/apis/apps/v1").text(),
             Catch::StartsWith(
                 R"({"kind":"APIResourceList","apiVersion":"v1","groupVersion":"apps/v1",)"));
}

TEST_CASE("the hash of the storage version is that of the version in which objects are kept") {
  rest_test server;
  const auto hash = [&](const std::string& path, const std::string& name) {
    const auto list = parsed(server.get(path));
    for (const auto& each : list["resources"].GetArray())
      if (text(each, "name") == name) return text(each, "storageVersionHash");
    return std::string{"no such resource"};
  };
  CHECK(hash("/apis/apps/v1", "deployments") == "8aSe+NMegvE=");
  CHECK(hash("/api/v1", "events") == "r2yiGXH7wu8=");
  CHECK(hash("/apis/events.k8s.io/v1", "events") == "r2yiGXH7wu8=");
  CHECK(hash("/apis/autoscaling/v1", "horizontalpodautoscalers") == "qwQve8ut294=");
  CHECK(hash("/apis/autoscaling/v2", "horizontalpodautoscalers") == "qwQve8ut294=");
  for (const char* unstored : {"bindings", "componentstatuses", "pods/status"})
    CHECK(hash("/api/v1", unstored).empty());
}

TEST_CASE("a group of custom kinds stands behind the server's own, whatever its name") {
  rest_test server{{.simulated_nodes = 1}};
  REQUIRE(server
              .post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", R"({
      "apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
      "metadata":{"name":"deployments.aaa.example.com"},
      "spec":{"group":"aaa.example.com","scope":"Namespaced",
        "names":{"plural":"deployments","kind":"Deployment"},
        "versions":[{"name":"v1","served":true,"storage":true,
          "schema":{"openAPIV3Schema":{"type":"object"}}}]}})")
              .status == 201);
  REQUIRE(rest_test::eventually([&] { return server.get("/apis/aaa.example.com").status == 200; }));
  for (const bool whole : {false, true}) {
    const auto all = server.get("/apis", whole ? aggregated : test::http_client::fields{}).text();
    const auto at = [&](const std::string& group) {
      const auto found = all.find("\"name\":\"" + group + "\"");
      REQUIRE(found != all.npos);
      return found;
    };
    CHECK(at("apiregistration.k8s.io") < at("apps"));
    CHECK(at("apps") < at("authentication.k8s.io"));
    CHECK(at("flowcontrol.apiserver.k8s.io") < at("aaa.example.com"));
    CHECK(at("aaa.example.com") < at("metrics.k8s.io"));
  }
}

TEST_CASE("OpenAPI in protobuf has the allowed values that OpenAPI in JSON has") {
  rest_test server;
  const auto sent = server.get(
      "/openapi/v2", {{"accept", "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"}});
  api::openapi::v2::Document document;
  REQUIRE(document.ParseFromString(sent.text()));
  std::size_t count = 0;
  for (const auto& each : document.definitions().additional_properties())
    count += schemas_with_values(each.value());
  const auto json = server.get("/openapi/v2");
  std::size_t expected = 0;
  constexpr std::string_view enumeration = R"("enum":[)";
  for (auto at = json.text().find(enumeration); at != std::string::npos;
       at = json.text().find(enumeration, at + 1))
    ++expected;
  CHECK(expected > 50);
  CHECK(count == expected);
}
