#include "api/discovery/openapi_json.hpp"

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include "api/scheme.hpp"

namespace troupe::api::openapi {

namespace {

class writer {
 public:
  writer(const kind_table& kinds, bool v3, const foreign_openapi& others = {})
      : kinds_{kinds}, v3_{v3}, others_{others} {}

  std::string document(const definitions& all, std::string_view api_version) {
    out_.StartObject();
    field(v3_ ? "openapi" : "swagger", v3_ ? "3.0.0" : "2.0");
    out_.Key("info");
    out_.StartObject();
    field("title", "Troupe");
    field("version", served_version);
    out_.EndObject();
    out_.Key("paths");
    write_paths(api_version);
    if (v3_) {
      out_.Key("components");
      out_.StartObject();
    }
    out_.Key(v3_ ? "schemas" : "definitions");
    out_.StartObject();
    for (const auto& [name, definition] : all) {
      key(name);
      write(definition);
    }
    for (const auto& [name, json] : others_.definitions)
      raw(name, json);
    out_.EndObject();
    if (v3_) out_.EndObject();
    out_.EndObject();
    return {buffer_.GetString(), buffer_.GetSize()};
  }

 private:
  void key(std::string_view name) {
    out_.Key(name.data(), static_cast<rapidjson::SizeType>(name.size()));
  }
  void text(std::string_view value) {
    out_.String(value.data(), static_cast<rapidjson::SizeType>(value.size()));
  }
  void field(std::string_view name, std::string_view value) {
    key(name);
    text(value);
  }
  // Nothing if there are none.
  void texts(std::string_view name, const std::vector<std::string>& all) {
    if (all.empty()) return;
    key(name);
    out_.StartArray();
    for (const auto& each : all)
      text(each);
    out_.EndArray();
  }
  void raw(std::string_view name, const std::string& json) {
    key(name);
    out_.RawValue(json.data(), json.size(), rapidjson::kObjectType);
  }
  void reference(const std::string& name) {
    field("$ref", (v3_ ? "#/components/schemas/" : "#/definitions/") + name);
  }

  // Writes a JSON object given as text, with the extensions appended.
  void write_text(const std::string& json, const schema& from) {
    std::string text = json.substr(0, json.size() - 1);
    for (const auto& [name, extension] : from.extensions)
      text += (text.size() > 1 ? ",\"" : "\"") + name + "\":" + extension;
    text += '}';
    out_.RawValue(text.data(), text.size(), rapidjson::kObjectType);
  }

  void write(const schema& from) {
    if (const auto& whole = v3_ ? from.raw_v3 : from.raw_v2; !whole.empty())
      return write_text(whole, from);
    out_.StartObject();
    if (!from.description.empty()) field("description", from.description);
    if (!from.ref.empty()) {
      // In v3 a reference must not have siblings.
      if (v3_) {
        out_.Key("allOf");
        out_.StartArray();
        out_.StartObject();
        reference(from.ref);
        out_.EndObject();
        out_.EndArray();
      } else {
        reference(from.ref);
      }
    } else if (from.int_or_string && v3_) {
      field("format", from.format);
      raw("oneOf", R"([{"type":"integer"},{"type":"string"}])");
    } else {
      field("type", from.type);
      if (!from.format.empty()) field("format", from.format);
    }
    if (from.items) {
      out_.Key("items");
      write(*from.items);
    }
    if (from.values) {
      out_.Key("additionalProperties");
      write(*from.values);
    }
    if (!from.properties.empty()) {
      out_.Key("properties");
      out_.StartObject();
      for (const auto& [name, property] : from.properties) {
        key(name);
        write(property);
      }
      out_.EndObject();
    }
    texts("required", from.required);
    texts("enum", from.allowed);
    for (const auto& [name, json] : from.extensions)
      raw(name, json);
    out_.EndObject();
  }

  void write_paths(std::string_view api_version) {
    out_.StartObject();
    for (const auto* kind : kinds_.all()) {
      if (!api_version.empty() && kind->api_version() != api_version) continue;
      for (const auto& path : paths_of(*kind)) {
        key(path.url);
        out_.StartObject();
        for (const auto& each : path.operations)
          write(each, *kind);
        out_.EndObject();
      }
    }
    for (const auto& [path, json] : others_.paths)
      raw(path, json);
    out_.EndObject();
  }

  void write(const operation& from, const kind_info& kind) {
    key(from.method);
    out_.StartObject();
    field("operationId", from.action + kind.group() + kind.version() + kind.kind());
    if (from.writes) {
      out_.Key("parameters");
      out_.StartArray();
      for (const char* name : write_parameters) {
        out_.StartObject();
        field("in", "query");
        field("name", name);
        if (v3_) {
          raw("schema", R"({"type":"string"})");
        } else {
          field("type", "string");
        }
        out_.EndObject();
      }
      out_.EndArray();
    }
    raw("responses", R"({"200":{"description":"OK"}})");
    field("x-kubernetes-action", from.action);
    raw("x-kubernetes-group-version-kind", group_version_kind(kind, kind.kind()));
    out_.EndObject();
  }

  const kind_table& kinds_;
  const bool v3_;
  const foreign_openapi others_;
  rapidjson::StringBuffer buffer_;
  rapidjson::Writer<rapidjson::StringBuffer> out_{buffer_};
};

}  // namespace

std::string write_v2(const kind_table& kinds, const definitions& defined,
                     const foreign_openapi& others) {
  return writer{kinds, false, others}.document(defined, {});
}

std::string write_v3(const kind_table& kinds, std::string_view api_version) {
  return writer{kinds, true}.document(define_version(kinds, api_version), api_version);
}

}  // namespace troupe::api::openapi
