#include "api/discovery/openapi_json.hpp"

#include "api/codec/document_writer.hpp"
#include "api/scheme.hpp"

namespace troupe::api::openapi {

namespace {

class writer {
 public:
  writer(const kind_table& kinds, bool v3, const foreign_openapi& others = {})
      : kinds_{kinds}, v3_{v3}, others_{others} {}

  std::string document(const definitions& all, std::string_view api_version) {
    out_.object([&] {
      out_.field(v3_ ? "openapi" : "swagger", v3_ ? "3.0.0" : "2.0");
      out_.object("info", [&] {
        out_.field("title", "Troupe");
        out_.field("version", served_version);
      });
      out_.object("paths", [&] { write_paths(api_version); });
      if (v3_)
        out_.object("components", [&] { write_definitions("schemas", all); });
      else
        write_definitions("definitions", all);
    });
    return out_.take();
  }

 private:
  void write_definitions(std::string_view as, const definitions& all) {
    out_.object(as, [&] {
      for (const auto& [name, definition] : all) {
        out_.key(name);
        write(definition);
      }
      for (const auto& [name, json] : others_.definitions)
        out_.raw(name, json);
    });
  }
  // Nothing if there are none.
  void texts(std::string_view name, const std::vector<std::string>& all) {
    if (!all.empty()) out_.strings(name, all);
  }
  void reference(const std::string& name) {
    out_.field("$ref", (v3_ ? "#/components/schemas/" : "#/definitions/") + name);
  }

  // Writes a JSON object given as text, with the extensions appended.
  void write_text(const std::string& json, const schema& from) {
    std::string text = json.substr(0, json.size() - 1);
    for (const auto& [name, extension] : from.extensions)
      text += (text.size() > 1 ? ",\"" : "\"") + name + "\":" + extension;
    out_.raw(text + '}');
  }

  void write(const schema& from) {
    if (const auto& whole = v3_ ? from.raw_v3 : from.raw_v2; !whole.empty())
      return write_text(whole, from);
    out_.object([&] { write_members(from); });
  }

  void write_members(const schema& from) {
    if (!from.description.empty()) out_.field("description", from.description);
    write_type(from);
    if (from.items) {
      out_.key("items");
      write(*from.items);
    }
    if (from.values) {
      out_.key("additionalProperties");
      write(*from.values);
    }
    if (!from.properties.empty())
      out_.object("properties", [&] {
        for (const auto& [name, property] : from.properties) {
          out_.key(name);
          write(property);
        }
      });
    texts("required", from.required);
    texts("enum", from.allowed);
    for (const auto& [name, json] : from.extensions)
      out_.raw(name, json);
  }

  void write_type(const schema& from) {
    if (!from.ref.empty()) {
      // In v3 a reference must not have siblings.
      if (!v3_) return reference(from.ref);
      out_.list("allOf", [&] { out_.object([&] { reference(from.ref); }); });
    } else if (from.int_or_string && v3_) {
      out_.field("format", from.format);
      out_.raw("oneOf", R"([{"type":"integer"},{"type":"string"}])");
    } else {
      out_.field("type", from.type);
      if (!from.format.empty()) out_.field("format", from.format);
    }
  }

  void write_paths(std::string_view api_version) {
    for (const auto* kind : kinds_.all()) {
      if (!api_version.empty() && kind->api_version() != api_version) continue;
      for (const auto& path : paths_of(*kind))
        out_.object(path.url, [&] {
          for (const auto& each : path.operations)
            write(each, *kind);
        });
    }
    for (const auto& [path, json] : others_.paths)
      out_.raw(path, json);
  }

  void write(const operation& from, const kind_info& kind) {
    out_.object(from.method, [&] {
      out_.field("operationId", from.action + kind.group() + kind.version() + kind.kind());
      if (from.writes) write_parameters_of_writes();
      out_.raw("responses", R"({"200":{"description":"OK"}})");
      out_.field("x-kubernetes-action", from.action);
      out_.raw("x-kubernetes-group-version-kind", group_version_kind(kind, kind.kind()));
    });
  }

  void write_parameters_of_writes() {
    out_.list("parameters", [&] {
      for (const char* name : write_parameters)
        out_.object([&] {
          out_.field("in", "query");
          out_.field("name", name);
          if (v3_)
            out_.raw("schema", R"({"type":"string"})");
          else
            out_.field("type", "string");
        });
    });
  }

  const kind_table& kinds_;
  const bool v3_;
  const foreign_openapi others_;
  document_writer out_;
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
