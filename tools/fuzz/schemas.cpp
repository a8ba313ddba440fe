// Schemas of custom kinds with objects, paths in objects, and inputs of server-side apply.
#include "api/apply/field_managers.hpp"
#include "api/apply/field_set.hpp"
#include "api/codec/json_dom.hpp"
#include "api/custom/json_path.hpp"
#include "api/schema/core_pod.pb.h"
#include "api/scheme.hpp"
#include "api/structural/compile.hpp"
#include "api/structural/complete.hpp"
#include "api/structural/validate.hpp"
#include "api/validation/field_errors.hpp"
#include "tools/fuzz/entries.hpp"

namespace troupe::fuzz {
namespace {

// Input: a schema, a line feed, an object.
std::vector<std::string> schemas() {
  return {
      R"({"type":"object","properties":{"a":{"type":"integer","minimum":1,"default":2},"b":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],"items":{"type":"object","properties":{"k":{"type":"string"}}}}}})"
      "\n"
      R"({"a":null,"b":[{"k":"x","z":1},{"k":"x"}],"c":1})",
      R"({"type":"object","properties":{"s":{"type":"object","oneOf":[{"required":["x"]},{"required":["y"]}],"properties":{"x":{"type":"string","pattern":"^a+$","format":"date"},"y":{"x-kubernetes-int-or-string":true}}},"o":{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true}}})"
      "\n"
      R"({"s":{"x":"aa","y":"1"},"o":{"kind":"A","apiVersion":"v1","metadata":{"name":"a","q":1}}})",
      R"({"type":"object","x-kubernetes-preserve-unknown-fields":true,"properties":{"m":{"type":"object","additionalProperties":{"type":"number","multipleOf":0.5,"nullable":true}}}})"
      "\n"
      R"({"m":{"a":1.5,"b":null},"free":[null,{"x":{}}]})"};
}

std::string completed(api::json_document& object, const api::structural_schema& schema,
                      std::vector<std::string>* unknown) {
  api::prune(object, schema.root, object.GetAllocator(), unknown);
  api::set_defaults(object, schema.root, object.GetAllocator());
  std::string text;
  api::append_canonical_json(text, object);
  return text;
}

void read_schema(std::string_view text) {
  const auto end = text.find('\n');
  api::field_errors wrong;
  const auto schema = api::compile_schema(wrong, text.substr(0, end));
  require((schema != nullptr) == wrong.empty(), "a schema is refused with a reason");
  api::json_document object;
  if (!schema || end == text.npos || !api::parse_json(object, text.substr(end + 1), "an object"))
    return;
  const auto once = completed(object, *schema, nullptr);
  std::vector<std::string> unknown;
  require(completed(object, *schema, &unknown) == once, "what is complete is complete");
  require(unknown.empty(), "what was pruned has nothing unknown");
  api::field_errors found;
  api::validate(found, schema->root, object, &object);
  require(found.empty(), "what has not changed is no error");
  api::validate(found, schema->root, object, nullptr);
}

std::vector<std::string> paths() {
  return {R"(.status.conditions[?(@.type=="Ready")].status)", ".spec.a\\.b[0].c[*]['d e']",
          ".a[?(@.b>1.5)]", ".a[-1]"};
}

void read_path(std::string_view text) {
  static_cast<void>(api::json_path::parse(text));
}

std::vector<std::string> field_sets() {
  return {R"({"f:spec":{"f:containers":{"k:{\"name\":\"c\"}":{".":{},"f:image":{}}}}})",
          R"({"f:metadata":{"f:finalizers":{".":{},"v:\"a\"":{}}},"f:x":{"i:3":{}}})"};
}

void read_field_set(std::string_view text) {
  const auto read = api::read_fields(text);
  if (!read) return;
  const auto again = api::read_fields(api::write_fields(*read));
  require(again.has_value() && *again == *read, "a written set is the same");
  require(api::subtract(*read, *read).empty(), "nothing is left of a set without itself");
  require(api::intersect(*read, *read) == api::unite(*read, *read), "a set with itself is itself");
}

std::vector<std::string> configurations() {
  return {
      R"({"metadata":{"name":"a","labels":{"x":"y"},"finalizers":["f"]},"spec":{"containers":[{"name":"b","ports":[{"containerPort":80}]}]}})",
      R"({"spec":{"containers":[{"name":"c","env":[{"name":"A","value":"2"}]}],"nodeSelector":{}}})"};
}

constexpr std::string_view live_pod =
    R"({"metadata":{"name":"a","labels":{"l":"m"},"managedFields":[{"manager":"one","operation":"Apply","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:labels":{"f:l":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"c\"}":{".":{},"f:name":{},"f:env":{"k:{\"name\":\"A\"}":{".":{},"f:name":{},"f:value":{}}}}}}}}]},"spec":{"containers":[{"name":"c","image":"x","env":[{"name":"A","value":"1"}]}]}})";

void read_configuration(std::string_view text) {
  const auto& pod = api::kind_of<api::core::v1::Pod>();
  for (const bool force : {false, true}) {
    const auto done =
        api::apply_fields(pod, live_pod, text, {.name = "one", .force = force, .now_seconds = 1});
    if (done) continue;
    const int code = done.error().code;
    require(code == 400 || code == 409 || code == 500, "an apply is refused in words");
  }
}

}  // namespace

void add_schemas(std::vector<entry>& to) {
  to.push_back({"schema", &schemas, &read_schema});
  to.push_back({"json_path", &paths, &read_path});
  to.push_back({"field_set", &field_sets, &read_field_set});
  to.push_back({"apply", &configurations, &read_configuration});
}

}  // namespace troupe::fuzz
