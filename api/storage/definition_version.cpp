#include "api/storage/definition_version.hpp"

#include <algorithm>
#include <utility>

#include "api/codec/json_dom.hpp"
#include "api/schema/apiextensions_v1.pb.h"
#include "api/storage/upstream_order.hpp"

namespace troupe::api {

namespace {

// -- from v1beta1 ---------------------------------------------------------------------------------

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

// The list of versions where only the name of one is given.
json_value only_version(const json_value& name, json_allocator& memory) {
  json_value all(rapidjson::kArrayType);
  if (!name.IsString() || name.GetStringLength() == 0) return all;
  json_value version(rapidjson::kObjectType);
  version.AddMember("name", json_value(name, memory), memory);
  version.AddMember("served", true, memory).AddMember("storage", true, memory);
  all.PushBack(version, memory);
  return all;
}

// In v1beta1 unknown fields are preserved unless it says otherwise.
void read_preservation(json_value& spec, json_allocator& memory) {
  const auto keeps = taken(spec, "preserveUnknownFields");
  if (!keeps.IsFalse()) spec.AddMember("preserveUnknownFields", true, memory);
}

bool is_empty_text(const json_value& value) {
  return value.IsString() && value.GetStringLength() == 0;
}

// v1beta1 always has names in the status, which are empty until some are accepted.
void read_accepted_names(json_value& definition) {
  auto* status = find_member(definition, "status");
  auto* names = status == nullptr ? nullptr : find_member(*status, "acceptedNames");
  if (names == nullptr || !names->IsObject()) return;
  const auto members = names->GetObject();
  if (std::all_of(members.begin(), members.end(),
                  [](const auto& each) { return is_empty_text(each.value); }))
    status->RemoveMember("acceptedNames");
}

// -- to v1beta1 -----------------------------------------------------------------------------------

// Calls `change` with each object of a list.
template <class Change>
void each_object(json_value* list, Change change) {
  if (list == nullptr || !list->IsArray()) return;
  for (auto& each : list->GetArray())
    if (each.IsObject()) change(each);
}

void put_empty(json_value& object, member_names names, rapidjson::Type type,
               json_allocator& memory) {
  for (const auto* name : names)
    if (!object.HasMember(name)) {
      auto value = type == rapidjson::kStringType ? json_value("") : json_value(type);
      object.AddMember(rapidjson::StringRef(name), value, memory);
    }
}

void write_names(json_value& names, json_allocator& memory) {
  put_empty(names, {"plural", "kind"}, rapidjson::kStringType, memory);
  order_members(names, {"plural", "singular", "shortNames", "kind", "listKind", "categories"},
                memory);
}

void write_columns(json_value* columns) {
  each_object(columns, [](json_value& column) {
    if (const auto path = column.FindMember("jsonPath"); path != column.MemberEnd())
      path->name = rapidjson::StringRef("JSONPath");
  });
}

// Moves a setting of the versions to the spec if it is the same in all of them.
void share(json_value& spec, const char* name, const char* shared_name, json_allocator& memory) {
  auto& versions = spec["versions"];
  const auto* first = find_member(versions[0], name);
  for (const auto& each : versions.GetArray()) {
    const auto* other = find_member(each, name);
    if ((other == nullptr) != (first == nullptr)) return;
    if (first != nullptr && !same_json(*first, *other)) return;
  }
  if (first == nullptr) return;
  json_value shared(*first, memory);
  for (auto& each : versions.GetArray())
    each.RemoveMember(name);
  spec.AddMember(rapidjson::StringRef(shared_name), shared, memory);
}

void write_versions(json_value& spec, json_allocator& memory) {
  auto* versions = find_member(spec, "versions");
  if (versions == nullptr || !versions->IsArray() || versions->Empty()) return;
  each_object(versions, [&](json_value& version) {
    write_columns(find_member(version, "additionalPrinterColumns"));
    auto* schema = find_member(version, "schema");
    if (schema != nullptr) schema = find_member(*schema, "openAPIV3Schema");
    if (schema != nullptr) order_schema(*schema, memory);
  });
  json_value name;
  if (const auto* first = find_member((*versions)[0], "name")) name.CopyFrom(*first, memory);
  share(spec, "schema", "validation", memory);
  share(spec, "subresources", "subresources", memory);
  share(spec, "additionalPrinterColumns", "additionalPrinterColumns", memory);
  each_object(find_member(spec, "versions"), [&](json_value& version) {
    order_members(version,
                  {"name", "served", "storage", "deprecated", "deprecationWarning", "schema",
                   "subresources", "additionalPrinterColumns"},
                  memory);
  });
  if (name.IsString()) spec.AddMember("version", name, memory);
}

void write_conversion(json_value& spec, json_allocator& memory) {
  auto* conversion = find_member(spec, "conversion");
  if (conversion == nullptr || !conversion->IsObject()) return;
  auto webhook = taken(*conversion, "webhook");
  if (!webhook.IsObject()) return;
  auto client = taken(webhook, "clientConfig");
  auto versions = taken(webhook, "conversionReviewVersions");
  if (client.IsObject()) {
    order_members(client, {"url", "service", "caBundle"}, memory);
    conversion->AddMember("webhookClientConfig", client, memory);
  }
  if (versions.IsArray()) conversion->AddMember("conversionReviewVersions", versions, memory);
}

void write_spec(json_value& spec, json_allocator& memory) {
  if (auto* names = find_member(spec, "names")) write_names(*names, memory);
  write_versions(spec, memory);
  write_conversion(spec, memory);
  if (!spec.HasMember("preserveUnknownFields"))
    spec.AddMember("preserveUnknownFields", false, memory);
  order_members(spec,
                {"group", "version", "names", "scope", "validation", "subresources", "versions",
                 "additionalPrinterColumns", "conversion", "preserveUnknownFields"},
                memory);
}

void write_status(json_value& status, json_allocator& memory) {
  put_empty(status, {"conditions", "storedVersions"}, rapidjson::kNullType, memory);
  put_empty(status, {"acceptedNames"}, rapidjson::kObjectType, memory);
  write_names(status["acceptedNames"], memory);
  each_object(find_member(status, "conditions"), [&](json_value& condition) {
    put_empty(condition, {"lastTransitionTime"}, rapidjson::kNullType, memory);
    order_members(condition, {"type", "status", "lastTransitionTime", "reason", "message"}, memory);
  });
  order_members(status, {"conditions", "acceptedNames", "storedVersions"}, memory);
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
  read_preservation(*spec, memory);
  read_accepted_names(tree);
  const auto name = taken(*spec, "version");
  const auto schema = taken(*spec, "validation");
  const auto subresources = taken(*spec, "subresources");
  const auto columns = taken(*spec, "additionalPrinterColumns");
  if (const auto* all = find_member(*spec, "versions");
      all == nullptr || !all->IsArray() || all->Empty()) {
    spec->RemoveMember("versions");
    spec->AddMember("versions", only_version(name, memory), memory);
  }
  for (auto& each : (*spec)["versions"].GetArray()) {
    if (!each.IsObject()) continue;
    put_where_missing(each, "schema", schema, memory);
    put_where_missing(each, "subresources", subresources, memory);
    put_where_missing(each, "additionalPrinterColumns", columns, memory);
    read_columns(each, memory);
  }
  read_conversion(*spec, memory);
  std::string out;
  append_ordered_json(out, tree);
  return out;
}

expected<std::string> definition_to_v1beta1(std::string_view json) {
  json_document tree;
  if (auto read = parse_json(tree, json, "definition"); !read) return fail(std::move(read.error()));
  auto& memory = tree.GetAllocator();
  auto* spec = find_member(tree, "spec");
  if (spec == nullptr || !spec->IsObject()) return fail(internal("the definition has no spec"));
  order_owners(tree, memory);
  write_spec(*spec, memory);
  put_empty(tree, {"status"}, rapidjson::kObjectType, memory);
  write_status(tree["status"], memory);
  std::string out;
  append_ordered_json(out, tree);
  return out;
}

}  // namespace troupe::api
