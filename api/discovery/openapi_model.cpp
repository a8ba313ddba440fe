#include "api/discovery/openapi_model.hpp"

#include <google/protobuf/descriptor.h>

#include "api/schema/duration.pb.h"
#include "api/schema/meta_object.pb.h"
#include "api/schema/meta_v1.pb.h"
#include "api/type_info.hpp"
#include "api/version_rules.hpp"

namespace troupe::api::openapi {

namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

std::string quoted(std::string_view text) {
  return '"' + std::string{text} + '"';
}

template <class Strings>
std::string json_list(const Strings& all) {
  std::string out = "[";
  for (const auto& each : all)
    out += (out.size() > 1 ? "," : "") + quoted(each);
  return out + "]";
}

// Describes the messages that are not objects in JSON.
bool describe_form(const type_info& info, schema& out) {
  if (info.descriptor().options().GetExtension(meta::v1::duration_form)) {
    out.type = "string";
    return true;
  }
  switch (info.form()) {
    case TIME:
    case MICRO_TIME:
      out.type = "string";
      out.format = "date-time";
      return true;
    case QUANTITY:
      out.type = "string";
      return true;
    case INT_OR_STRING:
      out.type = "string";
      out.format = "int-or-string";
      out.int_or_string = true;
      return true;
    case RAW_JSON:
      out.type = "object";
      return true;
    case STRINGS:
      out.type = "array";
      out.items = std::make_shared<schema>();
      out.items->type = "string";
      return true;
    default:
      return false;
  }
}

schema scalar(const FieldDescriptor& field, const Rule& rule) {
  schema out;
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_BOOL:
      out.type = "boolean";
      break;
    case FieldDescriptor::CPPTYPE_INT32:
    case FieldDescriptor::CPPTYPE_UINT32:
      out.type = "integer";
      out.format = "int32";
      break;
    case FieldDescriptor::CPPTYPE_INT64:
    case FieldDescriptor::CPPTYPE_UINT64:
      out.type = "integer";
      out.format = "int64";
      break;
    case FieldDescriptor::CPPTYPE_DOUBLE:
    case FieldDescriptor::CPPTYPE_FLOAT:
      out.type = "number";
      out.format = "double";
      break;
    default:
      out.type = "string";
      if (field.type() == FieldDescriptor::TYPE_BYTES) out.format = "byte";
  }
  if (!rule.format().empty()) out.format = rule.format();
  out.allowed.assign(rule.allowed().begin(), rule.allowed().end());
  return out;
}

// The schema of one value of the field: a list element, a map value, or the field itself.
schema element(const field_info& info, definitions& into) {
  if (info.type == nullptr) return scalar(*info.value_field(), *info.rule);
  schema out;
  define(info.type->descriptor(), into);
  out.ref = definition_name(info.type->descriptor());
  return out;
}

void extend(const field_info& info, schema& out) {
  const auto& rule = *info.rule;
  static constexpr const char* names[] = {"atomic", "set", "map"};
  if (rule.has_list_type())
    out.extensions.emplace_back(
        info.field->is_map() ? "x-kubernetes-map-type" : "x-kubernetes-list-type",
        quoted(names[rule.list_type()]));
  if (!rule.list_map_keys().empty())
    out.extensions.emplace_back("x-kubernetes-list-map-keys", json_list(rule.list_map_keys()));
  if (rule.has_patch_merge_key())
    out.extensions.emplace_back("x-kubernetes-patch-merge-key", quoted(rule.patch_merge_key()));
  if (rule.has_patch_strategy())
    out.extensions.emplace_back("x-kubernetes-patch-strategy", quoted(rule.patch_strategy()));
}

schema property(const field_info& info, definitions& into) {
  schema out;
  if (info.field->is_map()) {
    out.type = "object";
    out.values = std::make_shared<schema>(element(info, into));
  } else if (info.field->is_repeated()) {
    out.type = "array";
    out.items = std::make_shared<schema>(element(info, into));
  } else {
    out = element(info, into);
  }
  out.description = info.rule->doc();
  extend(info, out);
  return out;
}

schema text_property(const char* doc) {
  schema out;
  out.type = "string";
  out.description = doc;
  return out;
}

void add_type_meta(schema& out) {
  out.properties.emplace_back(
      "apiVersion", text_property("The version of the API in which the object is written."));
  out.properties.emplace_back("kind", text_property("The kind of the object."));
}

// The message FooList of the kind Foo, in the same package.
const Descriptor* list_of(const kind_info& kind) {
  return kind.type().file()->pool()->FindMessageTypeByName(kind.type().full_name() + "List");
}

// "com.example.stable.v1.Foo" for the kind Foo in stable.example.com/v1.
std::string custom_definition_name(const kind_info& kind) {
  std::string name;
  for (std::string_view rest = kind.group(); !rest.empty();) {
    const auto dot = rest.rfind('.');
    name += std::string{rest.substr(dot == rest.npos ? 0 : dot + 1)} + ".";
    rest = rest.substr(0, dot == rest.npos ? 0 : dot);
  }
  return name + kind.version() + "." + kind.kind();
}

void define_custom(const kind_info& kind, definitions& into) {
  const auto name = custom_definition_name(kind);
  const auto made = [&kind](const std::string& as) {
    schema of;
    of.type = "object";
    of.extensions.emplace_back("x-kubernetes-group-version-kind",
                               "[" + group_version_kind(kind, as) + "]");
    return of;
  };
  auto own = made(kind.kind());
  if (const auto* rules = kind.rules()) {
    define(*meta::v1::ObjectMeta::descriptor(), into);
    own.raw_v2 = rules->published_schema(version_rules::document::v2);
    own.raw_v3 = rules->published_schema(version_rules::document::v3);
  }
  into[name] = std::move(own);
  auto list = made(kind.list_kind());
  add_type_meta(list);
  define(*meta::v1::ListMeta::descriptor(), into);
  schema metadata, items;
  metadata.ref = definition_name(*meta::v1::ListMeta::descriptor());
  items.type = "array";
  items.items = std::make_shared<schema>();
  items.items->ref = name;
  list.properties.emplace_back("metadata", std::move(metadata));
  list.properties.emplace_back("items", std::move(items));
  list.required.push_back("items");
  into[name.substr(0, name.size() - kind.kind().size()) + kind.list_kind()] = std::move(list);
}

void define_kind(const kind_info& kind, definitions& into) {
  if (kind.custom()) return define_custom(kind, into);
  define(kind.type(), into);
  auto& own = into[definition_name(kind.type())];
  const auto mark = [&kind](schema& of, const std::string& name) {
    for (const auto& [extension, value] : of.extensions)
      if (extension == "x-kubernetes-group-version-kind") return;
    add_type_meta(of);
    of.extensions.emplace_back("x-kubernetes-group-version-kind",
                               "[" + group_version_kind(kind, name) + "]");
  };
  mark(own, kind.kind());
  if (const auto* list = list_of(kind)) {
    define(*list, into);
    mark(into[definition_name(*list)], kind.kind() + "List");
  }
}

}  // namespace

std::string group_version_kind(const kind_info& kind, const std::string& name) {
  return "{\"group\":" + quoted(kind.group()) + ",\"kind\":" + quoted(name) +
         ",\"version\":" + quoted(kind.version()) + "}";
}

std::string definition_name(const Descriptor& type) {
  const std::string own = "troupe.api.";
  const auto rest = type.full_name().substr(own.size());
  const auto starts = [&rest](std::string_view with) { return rest.rfind(with, 0) == 0; };
  if (starts("apiextensions.")) return "io.k8s.apiextensions-apiserver.pkg.apis." + rest;
  if (starts("meta.v1.")) return "io.k8s.apimachinery.pkg.apis." + rest;
  if (starts("metrics.")) return "io.k8s.metrics.pkg.apis." + rest;
  if (starts("resource.")) return "io.k8s.apimachinery.pkg.api." + rest;
  if (starts("intstr.")) return "io.k8s.apimachinery.pkg.util." + rest;
  if (starts("runtime.")) return "io.k8s.apimachinery.pkg." + rest;
  return "io.k8s.api." + rest;
}

void define(const Descriptor& type, definitions& into) {
  const auto [at, fresh] = into.try_emplace(definition_name(type));
  if (!fresh) return;
  const auto& info = type_info::of(type);
  schema out;
  out.description = info.about();
  if (!describe_form(info, out)) {
    out.type = "object";
    for (const auto& member : info.members()) {
      out.properties.emplace_back(member.name(), property(*member.info, into));
      if (member.info->rule->required()) out.required.push_back(member.name());
    }
  }
  into[definition_name(type)] = std::move(out);
}

definitions define_all(const kind_table& kinds) {
  definitions all;
  for (const auto* kind : kinds.all())
    define_kind(*kind, all);
  return all;
}

definitions define_version(const kind_table& kinds, std::string_view api_version) {
  definitions all;
  for (const auto* kind : kinds.all())
    if (kind->api_version() == api_version) define_kind(*kind, all);
  return all;
}

std::vector<path> paths_of(const kind_info& kind) {
  if (kind.plural().empty()) return {};
  const auto root = (kind.group().empty() ? "/api/" : "/apis/") + kind.api_version();
  const auto collection =
      root + (kind.namespaced() ? "/namespaces/{namespace}/" : "/") + kind.plural();
  path all{collection, &kind, {}}, one{collection + "/{name}", &kind, {}};
  const auto add = [&kind](path& to, const char* verb, operation added) {
    if (kind.serves(verb)) to.operations.push_back(std::move(added));
  };
  add(all, "list", {"get", "list", false});
  add(all, "create", {"post", "post", true});
  add(all, "deletecollection", {"delete", "deletecollection", false});
  add(one, "get", {"get", "get", false});
  add(one, "update", {"put", "put", true});
  add(one, "patch", {"patch", "patch", true});
  add(one, "delete", {"delete", "delete", false});
  std::vector<path> result;
  for (auto* each : {&all, &one})
    if (!each->operations.empty()) result.push_back(std::move(*each));
  return result;
}

}  // namespace troupe::api::openapi
