#include <utility>

#include "api/codec/json_dom.hpp"
#include "api/codec/json_text.hpp"
#include "api/discovery/cached_document.hpp"
#include "api/discovery/openapi.hpp"
#include "api/discovery/openapi_json.hpp"
#include "api/discovery/openapi_model.hpp"
#include "api/schema/openapi_v2.pb.h"

namespace troupe::api {

namespace {

using openapi::schema;
namespace wire = openapi::v2;

template <class Message>
void extend(Message& to, std::string_view name, std::string text) {
  auto& named = *to.add_vendor_extension();
  named.set_name(std::string{name});
  named.mutable_value()->set_yaml(std::move(text));
}

// The schema of a custom kind, reduced to the message's fields; clients need no more.
void write(const json_value& from, wire::Schema& to) {
  if (!from.IsObject()) return;
  for (const auto& each : from.GetObject()) {
    const auto name = text_of(each.name);
    const auto& value = each.value;
    if (name == "$ref" && value.IsString()) {
      to.set_ref(std::string{text_of(value)});
    } else if (name == "type" && value.IsString()) {
      to.mutable_type()->add_value(std::string{text_of(value)});
    } else if (name == "format" && value.IsString()) {
      to.set_format(std::string{text_of(value)});
    } else if (name == "description" && value.IsString()) {
      to.set_description(std::string{text_of(value)});
    } else if (name == "items") {
      write(value, *to.mutable_items()->add_schema());
    } else if (name == "additionalProperties" && value.IsObject()) {
      write(value, *to.mutable_additional_properties()->mutable_schema());
    } else if (name == "properties" && value.IsObject()) {
      for (const auto& property : value.GetObject()) {
        auto& named = *to.mutable_properties()->add_additional_properties();
        named.set_name(std::string{text_of(property.name)});
        write(property.value, *named.mutable_value());
      }
    } else if (name == "required" && value.IsArray()) {
      for (const auto& field : value.GetArray())
        if (field.IsString()) to.add_required(std::string{text_of(field)});
    } else if (name == "enum" && value.IsArray()) {
      for (const auto& one : value.GetArray())
        to.add_enum_value()->set_yaml(write_json(one));
    } else if (name.starts_with("x-kubernetes-")) {
      extend(to, name, write_json(value));
    }
  }
}

void write(const schema& from, wire::Schema& to) {
  if (!from.raw_v2.empty()) {
    json_document read;
    if (parse_json(read, from.raw_v2, "a schema")) write(read, to);
    for (const auto& [name, text] : from.extensions)
      extend(to, name, text);
    return;
  }
  if (!from.ref.empty()) to.set_ref("#/definitions/" + from.ref);
  if (!from.type.empty()) to.mutable_type()->add_value(from.type);
  if (!from.format.empty()) to.set_format(from.format);
  if (!from.description.empty()) to.set_description(from.description);
  if (from.items) write(*from.items, *to.mutable_items()->add_schema());
  if (from.values) write(*from.values, *to.mutable_additional_properties()->mutable_schema());
  for (const auto& [name, property] : from.properties) {
    auto& named = *to.mutable_properties()->add_additional_properties();
    named.set_name(name);
    write(property, *named.mutable_value());
  }
  for (const auto& name : from.required)
    to.add_required(name);
  for (const auto& value : from.allowed) {
    auto& text = *to.add_enum_value()->mutable_yaml();
    append_json_string(text, value);
  }
  for (const auto& [name, text] : from.extensions)
    extend(to, name, text);
}

void add_query(std::string name, std::string type, wire::Operation& to) {
  auto& query = *to.add_parameters()
                     ->mutable_parameter()
                     ->mutable_non_body_parameter()
                     ->mutable_query_parameter_sub_schema();
  query.set_in("query");
  query.set_name(std::move(name));
  query.set_type(std::move(type));
}

void add_answer(wire::Operation& to) {
  to.add_produces("application/json");
  auto& ok = *to.mutable_responses()->add_response_code();
  ok.set_name("200");
  ok.mutable_value()->mutable_response()->set_description("OK");
}

void write(const openapi::operation& from, const kind_info& kind, wire::Operation& to) {
  to.set_operation_id(from.action + kind.group() + kind.version() + kind.kind());
  add_answer(to);
  if (from.writes)
    for (const char* name : openapi::write_parameters)
      add_query(name, "string", to);
  extend(to, "x-kubernetes-action", from.action);
  extend(to, "x-kubernetes-group-version-kind", openapi::group_version_kind(kind, kind.kind()));
}

void write(const json_value& from, wire::Operation& to) {
  to.set_operation_id(text_at(from, "operationId"));
  add_answer(to);
  if (const auto* all = find_member(from, "parameters"); all != nullptr && all->IsArray())
    for (const auto& each : all->GetArray())
      if (text_at(each, "in") == "query")
        add_query(text_at(each, "name"), text_at(each, "type"), to);
  for (const auto& each : from.GetObject())
    if (const auto name = text_of(each.name); name.starts_with("x-kubernetes-"))
      extend(to, name, write_json(each.value));
}

// A path of another server: what the message has fields for.
void write(const json_value& from, wire::PathItem& to) {
  const std::pair<std::string_view, wire::Operation* (wire::PathItem::*)()> methods[] = {
      {"get", &wire::PathItem::mutable_get},
      {"put", &wire::PathItem::mutable_put},
      {"post", &wire::PathItem::mutable_post},
      {"patch", &wire::PathItem::mutable_patch},
      {"delete", &wire::PathItem::mutable_delete_}};
  for (const auto& [name, operation] : methods)
    if (const auto* found = find_member(from, name); found != nullptr && found->IsObject())
      write(*found, *(to.*operation)());
}

void add(const foreign_openapi& others, wire::Document& to) {
  for (const auto& [path, text] : others.paths) {
    auto& named = *to.mutable_paths()->add_path();
    named.set_name(path);
    json_document read;
    if (parse_json(read, text, "a path")) write(read, *named.mutable_value());
  }
  for (const auto& [name, text] : others.definitions) {
    auto& named = *to.mutable_definitions()->add_additional_properties();
    named.set_name(name);
    json_document read;
    if (parse_json(read, text, "a definition")) write(read, *named.mutable_value());
  }
}

// What others say, beside the names of our own.
foreign_openapi beside(const kind_table& kinds, const openapi::definitions& defined,
                       const foreign_openapis& others) {
  if (others.empty()) return {};
  foreign_openapi own;
  for (const auto* kind : kinds.all())
    for (const auto& path : openapi::paths_of(*kind))
      own.paths.emplace(path.url, "");
  for (const auto& [name, definition] : defined)
    own.definitions.emplace(name, "");
  return merge_openapi(others, own);
}

shared_text make_protobuf(const kind_table& kinds, const foreign_openapis& others) {
  wire::Document document;
  document.set_swagger("2.0");
  document.mutable_info()->set_title("Troupe");
  document.mutable_info()->set_version(openapi::served_version);
  for (const auto* kind : kinds.all())
    for (const auto& path : openapi::paths_of(*kind)) {
      auto& named = *document.mutable_paths()->add_path();
      named.set_name(path.url);
      auto& item = *named.mutable_value();
      for (const auto& each : path.operations)
        write(each, *kind,
              each.method == "get"     ? *item.mutable_get()
              : each.method == "put"   ? *item.mutable_put()
              : each.method == "post"  ? *item.mutable_post()
              : each.method == "patch" ? *item.mutable_patch()
                                       : *item.mutable_delete_());
    }
  const auto defined = openapi::define_all(kinds);
  for (const auto& [name, definition] : defined) {
    auto& named = *document.mutable_definitions()->add_additional_properties();
    named.set_name(name);
    write(definition, *named.mutable_value());
  }
  add(beside(kinds, defined, others), document);
  return shared_text{document.SerializeAsString()};
}

}  // namespace

openapi_v2_documents::openapi_v2_documents(foreign_openapis others)
    : others_{std::move(others)},
      json_{[this](const kind_table& kinds) {
        const auto defined = openapi::define_all(kinds);
        return shared_text{openapi::write_v2(kinds, defined, beside(kinds, defined, others_))};
      }},
      protobuf_{[this](const kind_table& kinds) { return make_protobuf(kinds, others_); }} {}

}  // namespace troupe::api
