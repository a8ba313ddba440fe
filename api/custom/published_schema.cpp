// The schema of a custom kind in OpenAPI documents.
//
// kubernetes: apiextensions-apiserver/pkg/controller/openapi/builder and v2/conversion.go.
#include "api/codec/json_dom.hpp"
#include "api/custom/custom_version.hpp"

namespace troupe::api {
namespace {

bool is_true(const json_value& of, const char* name) {
  const auto* found = find_member(of, name);
  return found != nullptr && found->IsTrue();
}

// Clients of v2 do not support junctors (allOf, anyOf ...) or nullable, and refuse fields that are
// not in properties.
void narrow(json_value& schema, json_allocator& allocator) {
  if (!schema.IsObject()) return;
  for (const char* keyword :
       {"anyOf", "oneOf", "allOf", "not", "nullable", "x-kubernetes-validations"}) {
    const bool open = std::string_view{keyword} == "nullable" && is_true(schema, keyword);
    schema.RemoveMember(keyword);
    if (!open) continue;
    for (const char* other : {"type", "items", "properties"})
      schema.RemoveMember(other);
  }
  if (is_true(schema, "x-kubernetes-preserve-unknown-fields"))
    for (const char* keyword : {"type", "items", "properties"})
      schema.RemoveMember(keyword);
  for (const char* keyword : {"items", "additionalProperties"})
    if (const auto found = schema.FindMember(keyword); found != schema.MemberEnd())
      narrow(found->value, allocator);
  if (const auto found = schema.FindMember("properties");
      found != schema.MemberEnd() && found->value.IsObject())
    for (auto& each : found->value.GetObject())
      narrow(each.value, allocator);
}

// Adds the properties that all objects have.
void add_head(json_value& schema, version_rules::document in, json_allocator& allocator) {
  if (!schema.HasMember("properties"))
    schema.AddMember("properties", json_value(rapidjson::kObjectType), allocator);
  auto& properties = schema["properties"];
  if (!properties.IsObject()) return;
  const auto add = [&](const char* name, std::string_view json) {
    properties.RemoveMember(name);
    json_document read(&allocator);
    if (parse_json(read, json, name))
      properties.AddMember(json_value(name, allocator), read, allocator);
  };
  add("apiVersion",
      R"({"type":"string","description":"The version of the API in which the object is written."})");
  add("kind", R"({"type":"string","description":"The kind of the object."})");
  add("metadata",
      in == version_rules::document::v3
          ? R"({"description":"Standard object's metadata.","allOf":[{"$ref":"#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}]})"
          : R"({"description":"Standard object's metadata.","$ref":"#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"})");
}

}  // namespace

std::string custom_version::published_schema(document in) const {
  constexpr std::string_view anything = R"({"type":"object"})";
  json_document tree;
  if (!parse_json(tree, schema_text(), "the schema") || !tree.IsObject())
    return std::string{anything};
  // In v2 such an object must not list properties: kubectl would refuse all other fields.
  if (in == document::v2) {
    if (is_true(tree, "x-kubernetes-preserve-unknown-fields")) return std::string{anything};
    narrow(tree, tree.GetAllocator());
  }
  add_head(tree, in, tree.GetAllocator());
  return write_json(tree);
}

}  // namespace troupe::api
