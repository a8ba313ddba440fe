// A custom kind that is added to the scheme while the server runs is served like any other.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "api/scheme.hpp"
#include "server/fixtures/rest_fixture.hpp"

using namespace troupe;
using namespace troupe::server::testing;

namespace {

// Removed from the scheme at the end.
class custom_kind {
 public:
  explicit custom_kind(const std::string& group = "stable.example.com",
                       const std::string& plural = "widgets") {
    api::Kind options;
    options.set_group(group);
    options.set_version("v1");
    options.set_kind("Widget");
    options.set_plural(plural);
    options.set_singular("widget");
    options.add_short_names("wd");
    options.set_namespaced(true);
    options.set_has_generation(true);
    options.set_has_status(true);
    kind_ = *api::scheme::instance().put(std::move(options));
  }
  ~custom_kind() { api::scheme::instance().remove(*kind_); }
  custom_kind(const custom_kind&) = delete;
  custom_kind& operator=(const custom_kind&) = delete;

 private:
  api::kind_handle kind_;
};

const std::string root = "/apis/stable.example.com/v1";
const std::string widgets = root + "/namespaces/default/widgets";

std::string widget_json(const std::string& name, const std::string& size,
                        const std::string& labels = "{}",
                        const std::string& group = "stable.example.com") {
  return fmt::format(
      R"({{"apiVersion":"{}/v1","kind":"Widget","metadata":{{"name":"{}","labels":{}}},)"
      R"("spec":{{"size":{},"nested":[{{"a":null}}]}}}})",
      group, name, labels, size);
}

}  // namespace

TEST_CASE("a custom object is admitted as one of a built-in kind: not without its namespace") {
  rest_test server;
  const custom_kind kind;
  const auto refused = server.post(root + "/namespaces/nowhere/widgets", widget_json("a", "1"));
  CHECK(refused.status == 404);
  CHECK(refused.at("message") == "namespaces \"nowhere\" not found");
}

TEST_CASE("a custom object is created, read, replaced and deleted") {
  rest_test server;
  CHECK(server.post(widgets, widget_json("a", "1")).status == 404);
  const custom_kind kind;
  const auto made = server.post(widgets, widget_json("a", "1"));
  REQUIRE(made.status == 201);
  CHECK(made.at("apiVersion") == "stable.example.com/v1");
  CHECK(made.at("kind") == "Widget");
  CHECK(made.at("metadata.uid").size() == 36);
  CHECK(made.at("metadata.generation") == "1");
  CHECK(made.at("spec.size") == "1");
  CHECK(made.at("spec.nested.0.a") == "null");
  CHECK(server.get(widgets + "/a").text() == made.text());
  CHECK(server.post(widgets, widget_json("a", "1")).status == 409);
  CHECK(server.get(widgets + "/b").at("message") == "widgets.stable.example.com \"b\" not found");

  // An update must name the version that it replaces.
  const auto blind = server.put(widgets + "/a", widget_json("a", "2"));
  CHECK(blind.status == 422);
  CHECK(blind.at("details.causes.0.field") == "metadata.resourceVersion");
  const auto update = [&](const std::string& size) {
    auto json = widget_json("a", size);
    const auto now = server.get(widgets + "/a").at("metadata.resourceVersion");
    json.insert(json.find("\"name\""), "\"resourceVersion\":\"" + now + "\",");
    return server.put(widgets + "/a", json);
  };
  const auto put = update("2");
  CHECK(put.status == 200);
  CHECK(put.at("metadata.generation") == "2");
  CHECK(put.at("metadata.uid") == made.at("metadata.uid"));
  const auto same = update("2.0");
  CHECK(same.at("metadata.resourceVersion") == put.at("metadata.resourceVersion"));

  CHECK(server.remove(widgets + "/a").at("status") == "Success");
  CHECK(server.get(widgets + "/a").status == 404);
}

TEST_CASE("names of custom objects are checked like others") {
  rest_test server;
  const custom_kind kind;
  CHECK(server.post(widgets, widget_json("UPPER", "1")).status == 422);
  CHECK(server.post(widgets, R"({"apiVersion":"stable.example.com/v1","kind":"Gadget"})").status ==
        400);
  CHECK(server.post(widgets, "[]").status == 400);
  CHECK(server
            .post(widgets + "?fieldValidation=Strict",
                  R"({"metadata":{"name":"a","nme":"b"},"spec":{"x":1,"x":2}})")
            .status == 400);
  const auto generated = server.post(widgets, R"({"metadata":{"generateName":"w-"}})");
  CHECK(generated.status == 201);
  CHECK(generated.at("metadata.name").starts_with("w-"));
}

TEST_CASE("custom objects are patched by merge and JSON patches") {
  rest_test server;
  const custom_kind kind;
  REQUIRE(server.post(widgets, widget_json("a", "1")).status == 201);
  const auto merged =
      server.patch(widgets + "/a", "merge", R"({"spec":{"size":5,"nested":null,"more":{"x":[]}}})");
  CHECK(merged.status == 200);
  CHECK(merged.at("spec") == R"({"more":{"x":[]},"size":5})");
  CHECK(merged.at("metadata.generation") == "2");
  const auto patched = server.patch(
      widgets + "/a", "json",
      R"([{"op":"test","path":"/spec/size","value":5},{"op":"add","path":"/spec/more/x/-","value":"y"}])");
  CHECK(patched.at("spec.more.x.0") == "y");
  CHECK(server.patch(widgets + "/a", "strategic", "{}").status == 415);
}

TEST_CASE("the status of a custom object is a part of its own") {
  rest_test server;
  const custom_kind kind;
  REQUIRE(server.post(widgets, widget_json("a", "1")).status == 201);
  const auto reported = server.patch(widgets + "/a/status", "merge",
                                     R"({"spec":{"size":9},"status":{"ready":true}})");
  CHECK(reported.status == 200);
  CHECK(reported.at("spec.size") == "1");
  CHECK(reported.at("status.ready") == "true");
  CHECK(reported.at("metadata.generation") == "1");
  const auto put = server.patch(widgets + "/a", "merge", R"({"spec":{"size":2},"status":null})");
  CHECK(put.at("status.ready") == "true");
  CHECK(server.get(widgets + "/a/scale").status == 404);
}

TEST_CASE("custom objects are listed and deleted in collections, by labels and names") {
  rest_test server;
  const custom_kind kind;
  for (const auto* name : {"a", "b", "c"})
    REQUIRE(server.post(widgets, widget_json(name, "1", name[0] == 'b' ? R"({"x":"y"})" : "{}"))
                .status == 201);
  const auto all = server.get(root + "/widgets");
  CHECK(all.at("kind") == "WidgetList");
  CHECK(all.at("apiVersion") == "stable.example.com/v1");
  CHECK(all.size("items") == 3);
  CHECK(all.at("items.1.metadata.name") == "b");
  CHECK(all.at("items.1.spec.size") == "1");
  CHECK(server.get(widgets + "?labelSelector=x%3Dy").size("items") == 1);
  CHECK(server.get(widgets + "?fieldSelector=metadata.name%3Dc").size("items") == 1);
  const auto wrong = server.get(widgets + "?fieldSelector=spec.size%3D1");
  CHECK(wrong.status == 400);
  CHECK(wrong.at("message") == "field label not supported: spec.size");
  CHECK(server.get(widgets + "?limit=2").has("metadata.continue"));
  CHECK(server.remove(widgets + "?labelSelector=x%3Dy").size("items") == 1);
  CHECK(server.remove(widgets).size("items") == 2);
  CHECK(server.get(widgets).size("items") == 0);
}

TEST_CASE("custom objects are watched, in one namespace and in all") {
  rest_test server;
  const custom_kind kind;
  // From a revision, so that objects that existed only before the watch cause no event.
  const auto from =
      "?watch=1&resourceVersion=" + server.get(widgets).at("metadata.resourceVersion");
  watching everywhere{server.where(), root + "/widgets" + from};
  watching here{server.where(), widgets + from};
  watching elsewhere{server.where(), root + "/namespaces/kube-system/widgets" + from};
  REQUIRE(everywhere.status() == 200);
  const auto made = server.post(widgets, widget_json("a", "1"));
  server.patch(widgets + "/a", "merge", R"({"spec":{"size":2}})");
  server.remove(widgets + "/a");
  REQUIRE(
      server
          .post(root + "/namespaces/kube-system/widgets", R"({"metadata":{"name":"b"},"spec":{}})")
          .status == 201);
  for (auto* one : {&everywhere, &here}) {
    auto event = one->next();
    REQUIRE(event);
    CHECK(event->at("type") == "ADDED");
    CHECK(event->at("object.metadata.uid") == made.at("metadata.uid"));
    event = one->next();
    CHECK(event->at("type") == "MODIFIED");
    CHECK(event->at("object.spec.size") == "2");
    CHECK(one->next()->at("type") == "DELETED");
  }
  CHECK(everywhere.next()->at("object.metadata.name") == "b");
  CHECK(elsewhere.next()->at("object.metadata.name") == "b");
}

TEST_CASE("two groups with the same plural are served apart") {
  rest_test server;
  const custom_kind one, other{"other.example.com"};
  const std::string others = "/apis/other.example.com/v1/namespaces/default/widgets";
  watching watch{server.where(), others + "?watch=1"};
  REQUIRE(server.post(widgets, widget_json("a", "1")).status == 201);
  CHECK(server.get(others).size("items") == 0);
  CHECK(server.post(others, widget_json("a", "1")).status == 400);
  REQUIRE(server.post(others, widget_json("a", "2", "{}", "other.example.com")).status == 201);
  CHECK(server.get(widgets + "/a").at("spec.size") == "1");
  CHECK(watch.next()->at("object.spec.size") == "2");
  CHECK(server.remove(others + "/a").status == 200);
  CHECK(server.get(widgets + "/a").status == 200);
}

TEST_CASE("a plural of a built-in kind serves in another group, too") {
  rest_test server;
  const custom_kind kind{"stable.example.com", "pods"};
  server.create_pod("web");
  const auto path = root + "/namespaces/default/pods";
  REQUIRE(server.post(path, widget_json("web", "1")).status == 201);
  CHECK(server.get(path).size("items") == 1);
  CHECK(server.get("/api/v1/namespaces/default/pods").size("items") == 1);
  CHECK(server.remove(path).size("items") == 1);
  CHECK(server.get("/api/v1/namespaces/default/pods/web").status == 200);
}

TEST_CASE("a table of custom objects has their names and ages") {
  rest_test server;
  const custom_kind kind;
  REQUIRE(server.post(widgets, widget_json("a", "1")).status == 201);
  const auto table = server.get(
      widgets, {{"accept", "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"}});
  CHECK(table.at("kind") == "Table");
  CHECK(table.size("columnDefinitions") == 2);
  CHECK(table.at("columnDefinitions.0.name") == "Name");
  CHECK(table.at("columnDefinitions.1.name") == "Age");
  CHECK(table.at("rows.0.cells.0") == "a");
  CHECK(table.at("rows.0.object.kind") == "PartialObjectMetadata");
}

TEST_CASE("custom objects come as JSON, YAML and metadata, and not as protobuf") {
  rest_test server;
  const custom_kind kind;
  REQUIRE(server.post(widgets, widget_json("a", "1")).status == 201);
  const std::string protobuf = "application/vnd.kubernetes.protobuf";
  CHECK(server.get(widgets + "/a", {{"accept", protobuf}}).status == 406);
  CHECK(server.get(widgets, {{"accept", protobuf}}).status == 406);
  CHECK(server.get(widgets + "?watch=1", {{"accept", protobuf}}).status == 406);
  CHECK(server.get(widgets + "/a", {{"accept", protobuf + ",application/json"}})
            .at("metadata.name") == "a");
  CHECK(
      server
          .get(widgets, {{"accept", protobuf + ";as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"}})
          .status == 200);
  CHECK(server.get(widgets + "/a", {{"accept", "application/yaml"}})
            .text()
            .find("\nspec:\n  nested:\n  - a: null\n  size: 1\n") != std::string::npos);
  CHECK(server.post(widgets, "k8s", {{"content-type", protobuf}}).status == 415);
  CHECK(server
            .post(widgets, "metadata:\n  name: y\nspec:\n  size: 3\n",
                  {{"content-type", "application/yaml"}})
            .at("spec.size") == "3");
}

TEST_CASE("discovery and OpenAPI follow the kinds that are there") {
  rest_test server;
  const auto has_group = [&] {
    return server.get("/apis").text().find(R"("name":"stable.example.com")") != std::string::npos;
  };
  const auto index_before = server.get("/openapi/v3");
  CHECK_FALSE(has_group());
  CHECK(server.get(root).status == 404);
  {
    const custom_kind kind;
    CHECK(has_group());
    CHECK(server.get("/apis/stable.example.com").at("preferredVersion.groupVersion") ==
          "stable.example.com/v1");
    const auto resources = server.get(root);
    CHECK(resources.at("resources.0.name") == "widgets");
    CHECK(resources.at("resources.0.singularName") == "widget");
    CHECK(resources.at("resources.0.shortNames.0") == "wd");
    CHECK(resources.size("resources.0.verbs") == 8);
    CHECK(resources.at("resources.1.name") == "widgets/status");
    CHECK(server
              .get("/apis", {{"accept",
                              "application/json;g=apidiscovery.k8s.io;v=v2;as="
                              "APIGroupDiscoveryList"}})
              .text()
              .find(R"("name":"stable.example.com")") != std::string::npos);
    const auto v3 = server.get("/openapi/v3/apis/stable.example.com/v1");
    CHECK(v3.status == 200);
    CHECK(v3.text().find(R"("com.example.stable.v1.Widget":)") != std::string::npos);
    CHECK(v3.text().find(R"("/apis/stable.example.com/v1/namespaces/{namespace}/widgets":)") !=
          std::string::npos);
    CHECK(server.get("/openapi/v3").text() != index_before.text());
    CHECK(server.get("/openapi/v2").text().find("com.example.stable.v1.WidgetList") !=
          std::string::npos);
  }
  CHECK_FALSE(has_group());
  CHECK(server.get("/openapi/v3").text() == index_before.text());
  CHECK(server.get("/openapi/v2").text().find("stable.example.com") == std::string::npos);
}

TEST_CASE("a kind may go while its objects are listed and watched") {
  rest_test server;
  std::optional<custom_kind> kind{std::in_place};
  REQUIRE(server.post(widgets, widget_json("a", "1")).status == 201);
  watching watch{server.where(), widgets + "?watch=1"};
  REQUIRE(watch.next()->at("type") == "ADDED");
  kind.reset();
  CHECK(server.get(widgets).status == 404);
  kind.emplace();
  CHECK(server.get(widgets + "/a").at("spec.size") == "1");
  CHECK(server.patch(widgets + "/a", "merge", R"({"spec":{"size":2}})").status == 200);
  CHECK(watch.next()->at("object.spec.size") == "2");
}
