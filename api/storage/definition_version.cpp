#include "api/storage/definition_version.hpp"

#include <utility>

#include "api/codec/json_dom.hpp"
#include "api/schema/apiextensions_v1.pb.h"

namespace troupe::api {

namespace {

json_value taken(json_value& from, const char* name) {
  const auto found = from.FindMember(name);
  if (found == from.MemberEnd()) return {};
  auto value = std::move(found->value);
  from.RemoveMember(found);
  return value;
}

void put_where_missing(json_value& into, const char* name, const json_value& value,
                       json_allocator& memory) {
  if (value.IsNull() || into.HasMember(name)) return;
  into.AddMember(rapidjson::StringRef(name), json_value(value, memory), memory);
}

void read_columns(json_value& version, json_allocator& memory) {
  const auto columns = version.FindMember("additionalPrinterColumns");
  if (columns == version.MemberEnd() || !columns->value.IsArray()) return;
  for (auto& each : columns->value.GetArray()) {
    if (!each.IsObject()) continue;
    auto path = taken(each, "JSONPath");
    if (!path.IsNull()) each.AddMember("jsonPath", std::move(path), memory);
  }
}

void read_conversion(json_value& spec, json_allocator& memory) {
  const auto found = spec.FindMember("conversion");
  if (found == spec.MemberEnd() || !found->value.IsObject()) return;
  auto client = taken(found->value, "webhookClientConfig");
  auto versions = taken(found->value, "conversionReviewVersions");
  if (client.IsNull() && versions.IsNull()) return;
  json_value webhook(rapidjson::kObjectType);
  if (!client.IsNull()) webhook.AddMember("clientConfig", std::move(client), memory);
  if (!versions.IsNull())
    webhook.AddMember("conversionReviewVersions", std::move(versions), memory);
  found->value.AddMember("webhook", std::move(webhook), memory);
}

// v1 requires a schema in each version, which itself states whether unknown fields are preserved.
json_value schema_for_all(json_value& spec, json_allocator& memory) {
  auto schema = taken(spec, "validation");
  auto keeps = taken(spec, "preserveUnknownFields");
  // The default was true.
  const bool keeps_unknown = !keeps.IsBool() || keeps.GetBool();
  if (!schema.IsObject()) schema.SetObject();
  if (!schema.HasMember("openAPIV3Schema"))
    schema.AddMember("openAPIV3Schema", json_value(rapidjson::kObjectType), memory);
  auto& root = schema["openAPIV3Schema"];
  if (!root.IsObject()) root.SetObject();
  if (!root.HasMember("type")) root.AddMember("type", "object", memory);
  if (keeps_unknown && !root.HasMember("x-kubernetes-preserve-unknown-fields"))
    root.AddMember("x-kubernetes-preserve-unknown-fields", true, memory);
  return schema;
}

}  // namespace

bool is_old_definition(const kind_info& kind, std::string_view api_version) {
  return &kind.type() == apiextensions::v1::CustomResourceDefinition::descriptor() &&
         api_version.ends_with("/v1beta1");
}

expected<std::string> definition_from_v1beta1(std::string_view json) {
  json_document tree;
  if (auto read = parse_json(tree, json, "definition"); !read) return fail(std::move(read.error()));
  auto& memory = tree.GetAllocator();
  auto* spec = find_member(tree, "spec");
  if (spec == nullptr || !spec->IsObject()) return fail(internal("the definition has no spec"));
  tree["apiVersion"].SetString("apiextensions.k8s.io/v1");
  const auto name = taken(*spec, "version");
  const auto schema = schema_for_all(*spec, memory);
  const auto subresources = taken(*spec, "subresources");
  const auto columns = taken(*spec, "additionalPrinterColumns");
  if (!spec->HasMember("versions") || !(*spec)["versions"].IsArray() ||
      (*spec)["versions"].Empty()) {
    spec->RemoveMember("versions");
    json_value only(rapidjson::kObjectType);
    if (name.IsString()) only.AddMember("name", json_value(name, memory), memory);
    only.AddMember("served", true, memory).AddMember("storage", true, memory);
    json_value all(rapidjson::kArrayType);
    all.PushBack(std::move(only), memory);
    spec->AddMember("versions", std::move(all), memory);
  }
  for (auto& each : (*spec)["versions"].GetArray()) {
    if (!each.IsObject()) continue;
    put_where_missing(each, "schema", schema, memory);
    put_where_missing(each, "subresources", subresources, memory);
    put_where_missing(each, "additionalPrinterColumns", columns, memory);
    read_columns(each, memory);
  }
  read_conversion(*spec, memory);
  return write_json(tree);
}

}  // namespace troupe::api
