// Definitions of custom kinds as data: names, rules, columns, paths, published documents.
#include <catch2/catch.hpp>

#include "api/codec/codec.hpp"
#include "api/codec/json_dom.hpp"
#include "api/custom/custom_values.hpp"
#include "api/custom/custom_version.hpp"
#include "api/definitions/names.hpp"
#include "api/definitions/served_kinds.hpp"
#include "api/object/custom_body.hpp"
#include "api/schema/meta_object.pb.h"
#include "api/strategy/defaults.hpp"
#include "api/validation/field_errors.hpp"
#include "api/validation/validation.hpp"

using namespace troupe::api;
using definition = apiextensions::v1::CustomResourceDefinition;

namespace {

constexpr const char* widget = R"({"apiVersion":"apiextensions.k8s.io/v1",
  "kind":"CustomResourceDefinition","metadata":{"name":"widgets.example.com"},
  "spec":{"group":"example.com","scope":"Namespaced",
    "names":{"plural":"widgets","kind":"Widget","shortNames":["wd"]},
    "versions":[
      {"name":"v1beta1","served":true,"storage":false,"deprecated":true,
       "schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}},
      {"name":"v1","served":true,"storage":true,
       "schema":{"openAPIV3Schema":{"type":"object","properties":{
         "spec":{"type":"object","properties":{
           "size":{"type":"integer"},"color":{"type":"string","nullable":true,"anyOf":[{"minLength":1}]},
           "free":{"x-kubernetes-preserve-unknown-fields":true,"type":"object","properties":{"a":{"type":"string"}}}}},
         "status":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}},
       "subresources":{"status":{},"scale":{"specReplicasPath":".spec.size","statusReplicasPath":".status.size"}},
       "selectableFields":[{"jsonPath":".spec.color"}],
       "additionalPrinterColumns":[
         {"name":"Ready","type":"string","jsonPath":".status.conditions[?(@.type==\"Ready\")].status"},
         {"name":"Size","type":"integer","jsonPath":".spec.size"},
         {"name":"Host","type":"string","jsonPath":".spec.free.hosts[0]"},
         {"name":"App","type":"string","jsonPath":".metadata.labels['example.com/app']","priority":1},
         {"name":"Age","type":"date","jsonPath":".metadata.creationTimestamp"}]}]}})";

definition read(const std::string& json) {
  auto read = decode(json, media::json, &kind_of<definition>());
  INFO((read ? std::string{} : read.error().message));
  REQUIRE(read);
  set_defaults(kind_of<definition>(), *read->content);
  return static_cast<definition&>(*read->content);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  REQUIRE(at != text.npos);
  return text.replace(at, from.size(), to);
}

std::string wrong(const std::string& json) {
  std::string out;
  for (const auto& each : validate_create(kind_of<definition>(), read(json)))
    out += each.field + ": " + each.message + "\n";
  return out;
}

object_ptr stored(const definition& of) {
  return std::make_shared<const object>(kind_of<definition>(), std::make_unique<definition>(of), 5);
}

CustomBody custom(const std::string& rest) {
  CustomBody body;
  body.mutable_metadata()->set_name("a");
  (*body.mutable_metadata()->mutable_labels())["example.com/app"] = "shop";
  body.set_rest(rest);
  return body;
}

}  // namespace

TEST_CASE("a valid definition is accepted, and errors in one have their path") {
  CHECK(wrong(widget) == "");
  CHECK(wrong(replaced(widget, R"("name":"widgets.example.com")", R"("name":"other")")) ==
        "metadata.name: Invalid value: \"other\": must be spec.names.plural+\".\"+spec.group\n");
  CHECK_THAT(wrong(replaced(widget, R"("storage":false)", R"("storage":true)")),
             Catch::Contains("must have exactly one version marked as storage version"));
  CHECK_THAT(wrong(replaced(widget, R"("name":"v1beta1")", R"("name":"v1")")),
             Catch::Contains("must contain unique version names"));
  CHECK_THAT(wrong(replaced(widget, R"("scope":"Namespaced")", R"("scope":"Local")")),
             Catch::Contains("spec.scope: Unsupported value: \"Local\""));
  CHECK_THAT(wrong(replaced(widget, R"(".spec.size","statusReplicasPath")",
                            R"(".status.size","statusReplicasPath")")),
             Catch::Contains("should be a json path under .spec"));
  CHECK_THAT(wrong(replaced(widget, R"("jsonPath":".spec.size")", R"("jsonPath":"spec.size")")),
             Catch::Contains("additionalPrinterColumns[1].jsonPath: Invalid value"));
  CHECK_THAT(
      wrong(replaced(widget, R"({"jsonPath":".spec.color"})", R"({"jsonPath":".spec.free"})")),
      Catch::Contains("selectableFields[0].jsonPath: Invalid value"));
  CHECK_THAT(
      wrong(replaced(widget, R"("size":{"type":"integer"})", R"("size":{"type":"int"})")),
      Catch::Contains("spec.versions[1].schema.openAPIV3Schema.properties[spec].properties[size]"
                      ".type: Unsupported value: \"int\""));
  CHECK_THAT(
      wrong(replaced(widget, R"("scope")", R"("conversion":{"strategy":"Webhook"},"scope")")),
      Catch::Contains("spec.conversion.strategy: Invalid value: \"Webhook\": conversion by a "
                      "webhook is not supported"));
}

TEST_CASE("groups of Kubernetes itself need an approval") {
  auto protected_group = replaced(widget, R"("group":"example.com")", R"("group":"x.k8s.io")");
  protected_group = replaced(protected_group, "widgets.example.com", "widgets.x.k8s.io");
  CHECK_THAT(wrong(protected_group),
             Catch::Contains("protected groups must have approval annotation"));
  const auto with = [&](const std::string& value) {
    return replaced(protected_group, R"("name":"widgets.x.k8s.io")",
                    R"("name":"widgets.x.k8s.io","annotations":{"api-approved.kubernetes.io":")" +
                        value + R"("})");
  };
  CHECK(wrong(with("unapproved, a test")) == "");
  CHECK(wrong(with("https://github.com/kubernetes/kubernetes/pull/1")) == "");
  CHECK_THAT(wrong(with("yes")), Catch::Contains("either a URL or a reason"));
}

TEST_CASE("names that another definition of the group has are not given again") {
  const auto first = read(widget);
  auto judged = calculate_names(first, {});
  CHECK(judged.accepted.plural() == "widgets");
  CHECK(judged.accepted.singular() == "widget");
  CHECK(judged.accepted.list_kind() == "WidgetList");
  REQUIRE(judged.conditions.size() == 2);
  CHECK((judged.conditions[0].holds && judged.conditions[1].holds));

  auto served = first;
  *served.mutable_status()->mutable_accepted_names() = judged.accepted;
  auto second = read(replaced(widget, R"("plural":"widgets","kind":"Widget")",
                              R"("plural":"others","kind":"Widget")"));
  const definition* all[] = {&served};
  judged = calculate_names(second, all);
  CHECK(judged.accepted.plural() == "others");
  CHECK(judged.accepted.kind().empty());
  CHECK(judged.accepted.short_names().empty());
  CHECK_FALSE(judged.conditions[0].holds);
  CHECK(judged.conditions[0].reason == "ListKindConflict");
  CHECK(judged.conditions[0].message == "\"WidgetList\" is already in use");
  CHECK(judged.conditions[1].reason == "NotAccepted");
}

TEST_CASE("paths name values in objects") {
  const auto body = custom(
      R"({"spec":{"a.b":"dotted","hosts":["x","y"],"ports":[{"n":1,"p":80},{"n":2,"p":443}]},)"
      R"("status":{"conditions":[{"status":"False","type":"Synced"},{"status":"True","type":"Ready"}]}})");
  const auto value = [&](const std::string& path) {
    const auto made = json_path::parse(path);
    INFO(path << (made ? std::string{} : ": " + made.error()));
    REQUIRE(made);
    custom_values values{body};
    const auto* found = values.first(*made);
    return found == nullptr ? std::string{"-"} : write_json(*found);
  };
  CHECK(value(".spec.hosts[0]") == R"("x")");
  CHECK(value(".spec.hosts[-1]") == R"("y")");
  CHECK(value(".spec.hosts[5]") == "-");
  CHECK(value(".spec.hosts[*]") == R"("x")");
  CHECK(value(".spec.ports[*].p") == "80");
  CHECK(value(".spec.ports[?(@.n>1)].p") == "443");
  CHECK(value(".spec.ports[?(@.n==1)].p") == "80");
  CHECK(value(".spec.a\\.b") == R"("dotted")");
  CHECK(value(".spec['a.b']") == R"("dotted")");
  CHECK(value(R"(.status.conditions[?(@.type=="Ready")].status)") == R"("True")");
  CHECK(value(R"(.status.conditions[?(@.type == 'Synced')].status)") == R"("False")");
  CHECK(value(R"(.status.conditions[?(@.type=="None")].status)") == "-");
  CHECK(value(".metadata.labels.example\\.com/app") == R"("shop")");
  CHECK(value(".spec.none.deeper") == "-");
  for (const std::string bad : {"", "spec", ".", ".spec[", ".spec[?(@.a==)]", ".spec[?(a)]", "..a",
                                ".spec['a", ".a[?(@.b==\"c)]", ".spec[x]"})
    CHECK_FALSE(json_path::parse(bad));
}

TEST_CASE("the rows of a custom kind have its columns") {
  const custom_version version{stored(read(widget)), 1, 0};
  REQUIRE(version.columns().size() == 6);
  CHECK(version.columns()[0].name == "Name");
  CHECK(version.columns()[4].priority == 1);
  auto body = std::make_unique<CustomBody>(custom(
      R"({"spec":{"free":{"hosts":["h"]},"size":3},"status":{"conditions":[{"status":"True","type":"Ready"}]}})"));
  body->mutable_metadata()->mutable_creation_timestamp()->set_seconds(1'000);
  const auto kinds = definitions::served_kinds(stored(read(widget)), 0);
  REQUIRE(kinds.size() == 2);
  const auto kind = kind_info::make_custom(kinds[0].options);
  const object item{*kind, std::move(body), 7};
  std::string cells;
  version.append_cells(cells, item, 1'090);
  CHECK(cells == R"("a","True",3,"h","shop","90s")");
  cells.clear();
  const object bare{*kind, std::make_unique<CustomBody>(custom(R"({"spec":{"size":"many"}})")), 7};
  version.append_cells(cells, bare, 1'090);
  CHECK(cells == R"("a",null,null,null,"shop","<unknown>")");
}

TEST_CASE("a definition makes a kind for each version, the one that is stored first") {
  auto of = read(widget);
  *of.mutable_status()->mutable_accepted_names() = calculate_names(of, {}).accepted;
  const auto kinds = definitions::served_kinds(stored(of), 3);
  REQUIRE(kinds.size() == 2);
  CHECK(kinds[0].options.version() == "v1");
  CHECK(kinds[0].options.has_status());
  CHECK(kinds[0].options.has_scale());
  CHECK(kinds[0].options.selectable_fields(0) == "spec.color");
  CHECK(kinds[0].rules->warning().empty());
  CHECK(kinds[1].options.version() == "v1beta1");
  CHECK_FALSE(kinds[1].options.has_status());
  CHECK(kinds[1].rules->warning() ==
        "example.com/v1beta1 Widget is deprecated; use example.com/v1 Widget");

  of.mutable_spec()->mutable_versions(0)->set_served(false);
  CHECK(definitions::served_kinds(stored(of), 3).size() == 1);
  of.mutable_spec()->mutable_versions(0)->set_served(true);
  of.mutable_spec()->mutable_versions(1)->set_served(false);
  const auto unserved = definitions::served_kinds(stored(of), 3);
  REQUIRE(unserved.size() == 2);
  CHECK(unserved[0].options.verbs(0) == "none");
}

TEST_CASE("a definition that preserves unknown fields does so at every depth, and is only kept") {
  const auto text = replaced(widget, R"("scope":"Namespaced")",
                             R"("scope":"Namespaced","preserveUnknownFields":true)");
  const auto open = read(text), closed = read(widget);
  const custom_version version{stored(open), 1, 0};
  const std::string rest = R"({"other":{"b":1},"spec":{"more":{"a":1},"size":2}})";
  auto body = custom(rest);
  const auto unknown = version.complete(body, field_validation::strict);
  REQUIRE(unknown);
  CHECK(unknown->empty());
  CHECK(body.rest() == rest);
  CHECK_FALSE(custom_version(stored(closed), 1, 0).complete(body, field_validation::strict));
  const auto problems = [&](const std::string& changed) {
    field_errors out;
    version.check(out, custom(changed), nullptr, version_rules::part::object);
    return out.take();
  };
  CHECK(problems(rest).empty());
  CHECK(problems(R"({"spec":{"more":1,"size":"many"}})").size() == 1);
  CHECK_FALSE(definitions::have_same_schemas(open, closed));

  // A schema that is not structural, or none, has no rules.
  auto free = open;
  free.mutable_spec()->mutable_versions(1)->clear_schema();
  body = custom(rest);
  REQUIRE(custom_version(stored(free), 1, 0).complete(body, field_validation::strict));
  CHECK(body.rest() == rest);

  CHECK_THAT(wrong(text), Catch::Contains("spec.preserveUnknownFields") &&
                              Catch::Contains("cannot set to true"));
  const auto changes = [](definition now, const definition& was) {
    now.mutable_status()->add_stored_versions("v1");
    return validate_update(kind_of<definition>(), now, was).size();
  };
  const auto usual = changes(closed, closed);
  CHECK(changes(open, closed) == usual + 1);
  CHECK(changes(open, open) == usual);
  CHECK(changes(free, open) == usual);
  CHECK(changes(closed, open) == usual);
}

TEST_CASE("the number of replicas stands where the definition says") {
  const custom_version version{stored(read(widget)), 1, 0};
  auto body = custom(R"({"spec":{"size":3},"status":{"size":2}})");
  const auto now = version.scale(body);
  REQUIRE(now);
  CHECK(now->wanted == 3);
  CHECK(now->actual == 2);
  REQUIRE(version.set_replicas(body, 8));
  CHECK(body.rest() == R"({"spec":{"size":8},"status":{"size":2}})");
  const auto none = version.scale(custom("{}"));
  REQUIRE_FALSE(none);
  CHECK_THAT(none.error().message,
             Catch::EndsWith("the spec replicas field \".spec.size\" does not exist"));
  auto empty = custom("");
  REQUIRE(version.set_replicas(empty, 1));
  CHECK(empty.rest() == R"({"spec":{"size":1}})");
  CHECK(version.field(custom(R"({"spec":{"color":"red"}})"), "spec.color") == "red");
  CHECK(version.field(custom("{}"), "spec.color").empty());
}

TEST_CASE("published schemas contain only keywords that clients of each version understand") {
  const custom_version version{stored(read(widget)), 1, 0};
  const auto v3 = version.published_schema(version_rules::document::v3);
  CHECK_THAT(v3, Catch::Contains("\"anyOf\"") && Catch::Contains("\"nullable\"") &&
                     Catch::Contains("ObjectMeta"));
  json_document v2;
  REQUIRE(parse_json(v2, version.published_schema(version_rules::document::v2), "v2"));
  const auto& spec = v2["properties"]["spec"]["properties"];
  CHECK(spec["size"]["type"] == "integer");
  CHECK(spec["color"].ObjectEmpty());
  CHECK_FALSE(spec["free"].HasMember("properties"));
  const custom_version open{stored(read(widget)), 0, 0};
  CHECK(open.published_schema(version_rules::document::v2) == R"({"type":"object"})");
}
