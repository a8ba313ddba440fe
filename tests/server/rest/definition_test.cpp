// Definitions of custom kinds: from the object to the served kind, and back.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <functional>

#include "server/fixtures/rest_fixture.hpp"

using namespace troupe;
using namespace troupe::server::testing;

namespace {

const std::string definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

constexpr const char* crontab_schema = R"({"type":"object","properties":{
  "spec":{"type":"object","required":["cronSpec"],"properties":{
    "cronSpec":{"type":"string","pattern":"^(\\d+|\\*)(/\\d+)?(\\s+(\\d+|\\*)(/\\d+)?){4}$"},
    "image":{"type":"string","default":"busybox"},
    "replicas":{"type":"integer","minimum":1,"maximum":10}}},
  "status":{"type":"object","properties":{
    "replicas":{"type":"integer"},"labelSelector":{"type":"string"}}}}})";

std::string version_json(const std::string& name, bool storage, const std::string& schema,
                         const std::string& more = "") {
  return fmt::format(
      R"({{"name":"{}","served":true,"storage":{},"schema":{{"openAPIV3Schema":{}}}{}}})", name,
      storage, schema, more);
}

struct names {
  std::string group = "stable.example.com";
  std::string plural = "crontabs";
  std::string kind = "CronTab";
  std::string short_name = "ct";
};

std::string definition_json(const std::string& versions, const names& of = {}) {
  return fmt::format(
      R"({{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
          "metadata":{{"name":"{1}.{0}"}},
          "spec":{{"group":"{0}","scope":"Namespaced",
            "names":{{"plural":"{1}","kind":"{2}","shortNames":["{3}"]}},
            "versions":[{4}]}}}})",
      of.group, of.plural, of.kind, of.short_name, versions);
}

const std::string parts = R"(,"subresources":{"status":{},"scale":{
    "specReplicasPath":".spec.replicas","statusReplicasPath":".status.replicas",
    "labelSelectorPath":".status.labelSelector"}},
  "additionalPrinterColumns":[
    {"name":"Spec","type":"string","jsonPath":".spec.cronSpec"},
    {"name":"Replicas","type":"integer","jsonPath":".spec.replicas"},
    {"name":"Age","type":"date","jsonPath":".metadata.creationTimestamp"}],
  "selectableFields":[{"jsonPath":".spec.image"}])";

const std::string root = "/apis/stable.example.com/v1";
const std::string crontabs = root + "/namespaces/default/crontabs";

std::string crontab_json(const std::string& name, const std::string& spec,
                         const std::string& version = "v1") {
  return fmt::format(
      R"({{"apiVersion":"stable.example.com/{}","kind":"CronTab","metadata":{{"name":"{}"}},"spec":{}}})",
      version, name, spec);
}

const std::string good_spec = R"({"cronSpec":"* * * * */5"})";

// A server whose controllers run.
struct definition_test : rest_test {
  definition_test() : rest_test{{.simulated_nodes = 1}} {}

  std::string condition(const std::string& name, const std::string& type,
                        const std::string& field = "status") {
    const auto found = get(definitions + "/" + name);
    for (int i = 0; i < 6; ++i)
      if (found.at(fmt::format("status.conditions.{}.type", i)) == type)
        return found.at(fmt::format("status.conditions.{}.{}", i, field));
    return {};
  }
  bool established(const std::string& name = "crontabs.stable.example.com") {
    return eventually([&] { return condition(name, "Established") == "True"; });
  }
  void define(const std::string& versions, const names& of = {}) {
    const auto made = post(definitions, definition_json(versions, of));
    INFO(made.text());
    REQUIRE(made.status == 201);
    REQUIRE(established(of.plural + "." + of.group));
  }
};

bool has_cause(const rest_answer& answer, const std::string& field, const std::string& text) {
  for (std::size_t i = 0; i < answer.size("details.causes"); ++i)
    if (answer.at(fmt::format("details.causes.{}.field", i)) == field &&
        answer.at(fmt::format("details.causes.{}.message", i)).find(text) != std::string::npos)
      return true;
  return false;
}

}  // namespace

TEST_CASE("a definition is given its names, and its kind is served as soon as that is seen") {
  definition_test server;
  CHECK(server.get(crontabs).status == 404);
  server.define(version_json("v1", true, crontab_schema, parts));
  const auto made = server.get(definitions + "/crontabs.stable.example.com");
  CHECK(made.at("spec.names.singular") == "crontab");
  CHECK(made.at("spec.names.listKind") == "CronTabList");
  CHECK(made.at("spec.conversion.strategy") == "None");
  CHECK(made.at("status.acceptedNames.plural") == "crontabs");
  CHECK(made.at("status.storedVersions.0") == "v1");
  CHECK(server.condition("crontabs.stable.example.com", "NamesAccepted", "reason") ==
        "NoConflicts");
  CHECK(server.get(crontabs).at("kind") == "CronTabList");
  const auto resources = server.get(root);
  CHECK(resources.at("resources.0.name") == "crontabs");
  CHECK(resources.at("resources.0.shortNames.0") == "ct");
  CHECK(resources.size("resources") == 3);
  CHECK(server.get("/openapi/v3/apis/stable.example.com/v1").text().find("cronSpec") !=
        std::string::npos);
  CHECK(server.get("/openapi/v2").text().find("com.example.stable.v1.CronTab") !=
        std::string::npos);
}

TEST_CASE("an object is pruned, completed and checked by the schema of its definition") {
  definition_test server;
  server.define(version_json("v1", true, crontab_schema, parts));
  const auto made = server.post(
      crontabs,
      crontab_json("a", R"({"cronSpec":"* * * * */5","unknown":{"x":1},"replicas":null})"));
  INFO(made.text());
  REQUIRE(made.status == 201);
  CHECK(made.at("spec.image") == "busybox");
  CHECK_FALSE(made.has("spec.unknown"));
  CHECK_FALSE(made.has("spec.replicas"));
  CHECK(made.at("metadata.generation") == "1");

  const auto strict = server.post(crontabs + "?fieldValidation=Strict",
                                  crontab_json("b", R"({"cronSpec":"* * * * *","unknown":1})"));
  CHECK(strict.status == 400);
  CHECK_THAT(strict.at("message"), Catch::Contains("unknown field \\\"spec.unknown\\\"") ||
                                       Catch::Contains("unknown field \"spec.unknown\""));

  const auto wrong = server.post(crontabs, crontab_json("b", R"({"cronSpec":"x","replicas":11})"));
  CHECK(wrong.status == 422);
  CHECK(has_cause(wrong, "spec.cronSpec", "should match"));
  CHECK(has_cause(wrong, "spec.replicas", "should be less than or equal to 10"));
  const auto none = server.post(crontabs, crontab_json("b", "{}"));
  CHECK(none.status == 422);
  CHECK(has_cause(none, "spec.cronSpec", "Required value"));
  const auto text = server.post(crontabs, crontab_json("b", R"({"cronSpec":7})"));
  CHECK(has_cause(text, "spec.cronSpec", "must be of type string"));

  const auto patched = server.patch(crontabs + "/a", "merge", R"({"spec":{"replicas":99}})");
  CHECK(patched.status == 422);
  CHECK(server.patch(crontabs + "/a", "merge", R"({"spec":{"replicas":3,"y":1}})")
            .at("spec.replicas") == "3");
  CHECK_FALSE(server.get(crontabs + "/a").has("spec.y"));
}

TEST_CASE("status and scale of a custom object are parts of their own") {
  definition_test server;
  server.define(version_json("v1", true, crontab_schema, parts));
  REQUIRE(
      server.post(crontabs, crontab_json("a", R"({"cronSpec":"* * * * *","replicas":2})")).status ==
      201);
  CHECK(
      server
          .patch(
              crontabs + "/a/status", "merge",
              R"({"metadata":{"labels":{"x":"y"}},"status":{"replicas":1,"labelSelector":"a=b"},"spec":{"replicas":7}})")
          .status == 200);
  const auto seen = server.get(crontabs + "/a");
  CHECK(seen.at("spec.replicas") == "2");
  CHECK(seen.at("status.replicas") == "1");
  CHECK_FALSE(seen.has("metadata.labels"));
  const auto wrong =
      server.patch(crontabs + "/a/status", "merge", R"({"status":{"replicas":"one"}})");
  CHECK(wrong.status == 422);

  const auto scale = server.get(crontabs + "/a/scale");
  CHECK(scale.at("kind") == "Scale");
  CHECK(scale.at("spec.replicas") == "2");
  CHECK(scale.at("status.replicas") == "1");
  CHECK(scale.at("status.selector") == "a=b");
  CHECK(server.patch(crontabs + "/a/scale", "merge", R"({"spec":{"replicas":5}})").status == 200);
  CHECK(server.get(crontabs + "/a").at("spec.replicas") == "5");
  CHECK(server.patch(crontabs + "/a/scale", "merge", R"({"spec":{"replicas":50}})").status == 422);
  const auto applied = server.request(
      "PATCH", crontabs + "/a/scale?fieldManager=scaler&force=true",
      "apiVersion: autoscaling/v1\nkind: Scale\nmetadata: {name: a}\nspec: {replicas: 4}\n",
      {{"content-type", "application/apply-patch+yaml"}});
  INFO(applied.text());
  CHECK(applied.status == 200);
  CHECK(applied.at("spec.replicas") == "4");
  const auto owned = server.get(crontabs + "/a");
  CHECK(owned.at("spec.replicas") == "4");
  CHECK(owned.at("metadata.managedFields.0.manager") == "scaler");
  CHECK(owned.at("metadata.managedFields.0.fieldsV1") == R"({"f:spec":{"f:replicas":{}}})");
  REQUIRE(server.post(crontabs, crontab_json("b", good_spec)).status == 201);
  const auto absent = server.get(crontabs + "/b/scale");
  CHECK(absent.status == 500);
  CHECK_THAT(absent.at("message"), Catch::Contains(".spec.replicas"));
}

TEST_CASE("a custom object without a replica count is scaled") {
  definition_test server;
  server.define(version_json("v1", true, crontab_schema, parts));
  for (const char* name : {"a", "b"})
    REQUIRE(server.post(crontabs, crontab_json(name, good_spec)).status == 201);
  const auto unset =
      server.patch(crontabs + "/a/scale", "merge", R"({"metadata":{"labels":{"x":"y"}}})");
  CHECK(unset.status == 400);
  CHECK(unset.at("message") == "the spec replicas field \".spec.replicas\" cannot be empty");
  CHECK(server.patch(crontabs + "/a/scale", "strategic", R"({"spec":{"replicas":3}})").status ==
        415);
  const auto patched = server.patch(crontabs + "/a/scale", "merge", R"({"spec":{"replicas":3}})");
  INFO(patched.text());
  CHECK(patched.at("spec.replicas") == "3");
  CHECK(server.get(crontabs + "/a").at("spec.replicas") == "3");
  const auto apply = [&](const std::string& spec) {
    return server.request(
        "PATCH", crontabs + "/b/scale?fieldManager=scaler",
        "apiVersion: autoscaling/v1\nkind: Scale\nmetadata: {name: b}\nspec: " + spec + "\n",
        {{"content-type", "application/apply-patch+yaml"}});
  };
  CHECK(apply("{}").status == 400);
  const auto applied = apply("{replicas: 4}");
  INFO(applied.text());
  CHECK(applied.status == 200);
  CHECK(server.get(crontabs + "/b").at("spec.replicas") == "4");
}

TEST_CASE("a finalizer of a custom object that has no path is accepted with one warning") {
  definition_test server;
  server.define(version_json("v1", true, crontab_schema));
  const auto made = server.post(crontabs, R"({"apiVersion":"stable.example.com/v1","kind":"CronTab",
        "metadata":{"name":"a","finalizers":["hold"]},"spec":{"cronSpec":"* * * * *"}})");
  REQUIRE(made.status == 201);
  CHECK(made.headers.at("warning") ==
        R"(299 - "metadata.finalizers: \"hold\": prefer a domain-qualified finalizer name )"
        R"(including a path (/) to avoid accidental conflicts with other finalizer writers")");
  const auto changed =
      server.patch(crontabs + "/a", "merge", R"({"metadata":{"labels":{"x":"y"}}})");
  CHECK(changed.status == 200);
  CHECK_FALSE(changed.headers.contains("warning"));
}

TEST_CASE("all unknown and duplicate fields of a custom object are refused together") {
  definition_test server;
  server.define(version_json("v1", true, crontab_schema));
  const auto refused = server.post(
      crontabs + "?fieldValidation=Strict",
      R"({"apiVersion":"stable.example.com/v1","kind":"CronTab","metadata":{"name":"a","no":1},
          "spec":{"cronSpec":"* * * * *","cronSpec":"1 * * * *","size":1}})");
  CHECK(refused.status == 400);
  CHECK(refused.at("message") ==
        "CronTab in version \"v1\" cannot be handled as a CronTab: strict decoding error: "
        "duplicate field \"spec.cronSpec\", unknown field \"metadata.no\", unknown field "
        "\"spec.size\"");
  REQUIRE(server.post(crontabs, crontab_json("a", good_spec)).status == 201);
  const auto patched = server.patch(crontabs + "/a?fieldValidation=Strict", "merge",
                                    R"({"spec":{"image":"x","image":"y","size":1}})");
  CHECK(patched.at("message") ==
        "strict decoding error: duplicate field \"spec.image\", unknown field \"spec.size\"");
}

TEST_CASE(
    "custom objects are shown in the columns of their definition, and selected by its fields") {
  definition_test server;
  server.define(version_json("v1", true, crontab_schema, parts));
  REQUIRE(
      server.post(crontabs, crontab_json("a", R"({"cronSpec":"* * * * *","replicas":2})")).status ==
      201);
  REQUIRE(server.post(crontabs, crontab_json("b", R"({"cronSpec":"1 * * * *","image":"other"})"))
              .status == 201);
  const auto table =
      server.get(crontabs, {{"accept", "application/json;as=Table;v=v1;g=meta.k8s.io"}});
  CHECK(table.at("columnDefinitions.1.name") == "Spec");
  CHECK(table.at("columnDefinitions.2.type") == "integer");
  CHECK(table.at("rows.0.cells.0") == "a");
  CHECK(table.at("rows.0.cells.1") == "* * * * *");
  CHECK(table.at("rows.0.cells.2") == "2");
  CHECK(table.at("rows.1.cells.2") == "null");
  const auto others = server.get(crontabs + "?fieldSelector=spec.image%3Dother");
  CHECK(others.size("items") == 1);
  CHECK(others.at("items.0.metadata.name") == "b");
  CHECK(server.get(crontabs + "?fieldSelector=spec.replicas%3D2").status == 400);
}

TEST_CASE("of several versions each shows the objects of the one that is stored") {
  definition_test server;
  const std::string other_schema =
      R"({"type":"object","properties":{"spec":{"type":"object","properties":{
          "cronSpec":{"type":"string"},"image":{"type":"string"},
          "zone":{"type":"string","default":"UTC"}}}}})";
  server.define(version_json("v1beta1", false, other_schema,
                             R"(,"deprecated":true,"deprecationWarning":"use v1")") +
                "," + version_json("v1", true, crontab_schema));
  const auto old_path = "/apis/stable.example.com/v1beta1/namespaces/default/crontabs";
  CHECK(server.get("/apis/stable.example.com").at("preferredVersion.version") == "v1");
  REQUIRE(server.post(crontabs, crontab_json("a", good_spec)).status == 201);
  const auto shown = server.get(std::string{old_path} + "/a");
  CHECK(shown.at("apiVersion") == "stable.example.com/v1beta1");
  CHECK(shown.at("spec.zone") == "UTC");
  CHECK(shown.at("spec.image") == "busybox");
  CHECK_THAT(shown.headers.at("warning"), Catch::Contains("use v1"));
  // Stored in v1, which has no zone, and whose default comes with it.
  const auto made =
      server.post(old_path, crontab_json("b", R"({"cronSpec":"* * * * *"})", "v1beta1"));
  INFO(made.text());
  REQUIRE(made.status == 201);
  CHECK(made.at("apiVersion") == "stable.example.com/v1beta1");
  CHECK_FALSE(server.get(crontabs + "/b").has("spec.zone"));
  CHECK(server.get(crontabs + "/b").at("spec.image") == "busybox");
  CHECK(server.get(old_path).size("items") == 2);
  CHECK(server.get(old_path).at("items.1.apiVersion") == "stable.example.com/v1beta1");
  CHECK(server.post(old_path, crontab_json("c", "{}", "v1beta1")).status == 422);

  // Another one is to be stored from now on.
  const auto swap =
      server.patch(definitions + "/crontabs.stable.example.com", "json",
                   R"([{"op":"replace","path":"/spec/versions/0/storage","value":true},
          {"op":"replace","path":"/spec/versions/1/storage","value":false}])");
  INFO(swap.text());
  REQUIRE(swap.status == 200);
  CHECK(swap.size("status.storedVersions") == 2);
  CHECK(server.get(crontabs + "/a").at("apiVersion") == "stable.example.com/v1");
  CHECK(server.get(crontabs).size("items") == 2);
  CHECK(server.patch(crontabs + "/a", "merge", R"({"spec":{"replicas":4}})").status == 200);
  const auto gone = server.patch(definitions + "/crontabs.stable.example.com", "json",
                                 R"([{"op":"remove","path":"/spec/versions/1"}])");
  CHECK(gone.status == 422);
  CHECK(has_cause(gone, "status.storedVersions[0]", "missing from spec.versions"));
}

TEST_CASE("objects that are older than a schema are read by the new one") {
  definition_test server;
  server.define(
      version_json("v1", true, R"({"type":"object","x-kubernetes-preserve-unknown-fields":true})"));
  REQUIRE(
      server.post(crontabs, crontab_json("a", R"({"cronSpec":"* * * * *","extra":1})")).status ==
      201);
  CHECK(server.get(crontabs + "/a").at("spec.extra") == "1");
  auto changed = server.get(definitions + "/crontabs.stable.example.com");
  const auto replaced = server.patch(
      definitions + "/crontabs.stable.example.com", "json",
      fmt::format(
          R"([{{"op":"replace","path":"/spec/versions/0/schema/openAPIV3Schema","value":{}}}])",
          crontab_schema));
  INFO(replaced.text());
  REQUIRE(replaced.status == 200);
  const auto seen = server.get(crontabs + "/a");
  CHECK(seen.at("spec.image") == "busybox");
  CHECK_FALSE(seen.has("spec.extra"));
  CHECK(server.get(crontabs).at("items.0.spec.image") == "busybox");
  watching watch{server.where(), crontabs + "?watch=1&resourceVersion=0"};
  CHECK(watch.next()->at("object.spec.image") == "busybox");
  const auto labelled =
      server.patch(crontabs + "/a", "merge", R"({"metadata":{"labels":{"x":"y"}}})");
  CHECK(labelled.status == 200);
  CHECK(watch.next()->at("object.metadata.labels.x") == "y");
}

TEST_CASE("a name that is taken is not given twice, and is given when it is free again") {
  definition_test server;
  server.define(version_json("v1", true, crontab_schema));
  const names second{.plural = "others", .kind = "CronTab", .short_name = "ct"};
  REQUIRE(
      server.post(definitions, definition_json(version_json("v1", true, crontab_schema), second))
          .status == 201);
  const std::string name = "others.stable.example.com";
  REQUIRE(
      rest_test::eventually([&] { return server.condition(name, "NamesAccepted") == "False"; }));
  CHECK(server.condition(name, "NamesAccepted", "reason") == "ListKindConflict");
  CHECK(server.condition(name, "Established", "reason") == "NotAccepted");
  CHECK(server.get(root + "/others").status == 404);
  CHECK(server.remove(definitions + "/crontabs.stable.example.com").status == 200);
  CHECK(server.established(name));
  CHECK(server.get(root + "/namespaces/default/others").status == 200);
}

TEST_CASE("a definition that is deleted takes its objects with it, when they can go") {
  definition_test server;
  server.define(version_json("v1", true, crontab_schema));
  REQUIRE(server.post(crontabs, crontab_json("a", good_spec)).status == 201);
  REQUIRE(server
              .post(crontabs, R"({"apiVersion":"stable.example.com/v1","kind":"CronTab",
        "metadata":{"name":"b","finalizers":["example.com/hold"]},"spec":{"cronSpec":"* * * * *"}})")
              .status == 201);
  const std::string name = "crontabs.stable.example.com";
  const auto deleted = server.remove(definitions + "/" + name);
  CHECK(deleted.status == 200);
  CHECK(deleted.at("kind") == "CustomResourceDefinition");
  CHECK(deleted.has("metadata.deletionTimestamp"));
  REQUIRE(rest_test::eventually([&] { return server.get(crontabs + "/a").status == 404; }));
  REQUIRE(rest_test::eventually([&] {
    return server.condition(name, "Terminating", "reason") == "InstanceDeletionInProgress";
  }));
  const auto refused = server.post(crontabs, crontab_json("c", good_spec));
  CHECK(refused.status == 403);
  CHECK(refused.at("message") ==
        "crontabs.stable.example.com \"c\" is forbidden: create not allowed while custom resource "
        "definition is terminating");
  CHECK(server.get(root).text().find("\"create\"") == std::string::npos);
  CHECK(server.patch(crontabs + "/b", "merge", R"({"metadata":{"finalizers":null}})").status ==
        200);
  REQUIRE(
      rest_test::eventually([&] { return server.get(definitions + "/" + name).status == 404; }));
  // It is removed from the scheme right after its removal from the store.
  CHECK(rest_test::eventually([&] { return server.get(crontabs).status == 404; }));
  CHECK(server.get("/apis/stable.example.com").status == 404);
  // No old object exists when it is defined again.
  server.define(version_json("v1", true, crontab_schema));
  CHECK(server.get(crontabs).size("items") == 0);
}

TEST_CASE("a write of a kind with rules in CEL says once that they are not enforced") {
  definition_test server;
  constexpr const char* rules = R"({"type":"object","properties":{"spec":{"type":"object",
    "properties":{"a":{"type":"integer","x-kubernetes-validations":[{"rule":"self > 1"}]}},
    "x-kubernetes-validations":[{"rule":"self.a > 1"},{"rule":"self.a < 9"}]},
    "status":{"type":"object"}}})";
  server.define(version_json("v1", true, rules, R"(,"subresources":{"status":{}})"));
  const std::string expected =
      "299 - \"crontabs.stable.example.com: the rules in x-kubernetes-validations are stored, but "
      "this cluster does not enforce them yet\"";
  const auto one = crontabs + "/a";
  const auto made = server.post(crontabs, crontab_json("a", R"({"a":0})"));
  INFO(made.text());
  REQUIRE(made.status == 201);
  CHECK(made.headers.at("warning") == expected);
  const auto warning_of = [&](const rest_answer& answer) {
    CHECK(answer.status < 300);
    const auto found = answer.headers.find("warning");
    return found == answer.headers.end() ? std::string{} : found->second;
  };
  CHECK(warning_of(server.put(one, made.text())) == expected);
  CHECK(warning_of(server.patch(one, "merge", R"({"spec":{"a":2}})")) == expected);
  CHECK(warning_of(server.patch(one + "/status", "merge", R"({"status":{}})")) == expected);
  CHECK(warning_of(server.request("PATCH", one + "?fieldManager=m", crontab_json("a", "{}"),
                                  {{"content-type", "application/apply-patch+yaml"}})) == expected);
  CHECK(warning_of(server.get(one)).empty());
  CHECK(warning_of(server.get(crontabs)).empty());
}

TEST_CASE("a definition that makes no sense is refused with its fields") {
  definition_test server;
  const auto refused = [&](const std::string& json, const std::string& field,
                           const std::string& text) {
    const auto answer = server.post(definitions, json);
    INFO(answer.text());
    CHECK(answer.status == 422);
    CHECK(has_cause(answer, field, text));
  };
  const auto good = version_json("v1", true, crontab_schema);
  refused(definition_json(good + "," + good), "spec.versions", "unique version names");
  refused(definition_json(version_json("v1", false, crontab_schema)), "spec.versions",
          "exactly one version marked as storage");
  refused(definition_json(good, {.group = "nodot"}), "spec.group", "at least one dot");
  refused(definition_json(good, {.plural = "UPPER"}), "spec.names.plural", "");
  refused(definition_json(good, {.group = "x.k8s.io"}),
          "metadata.annotations[api-approved.kubernetes.io]", "protected groups");
  refused(definition_json(R"({"name":"v1","served":true,"storage":true})"),
          "spec.versions[0].schema.openAPIV3Schema", "Required value");
  refused(definition_json(version_json("v1", true, R"({"properties":{"a":{"type":"string"}}})")),
          "spec.versions[0].schema.openAPIV3Schema.type", "Required value");
  refused(definition_json(version_json(
              "v1", true, crontab_schema,
              R"(,"additionalPrinterColumns":[{"name":"x","type":"string","jsonPath":"spec"}])")),
          "spec.versions[0].additionalPrinterColumns[0].jsonPath", "");
  auto webhook = definition_json(good);
  webhook.insert(
      webhook.rfind("\"versions\""),
      R"("conversion":{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],"clientConfig":{"url":"https://x/"}}},)");
  refused(webhook, "spec.conversion.strategy", "not supported by this server");
}
