#include "support/schema_example.hpp"

#include <algorithm>
#include <vector>

#include "api/structural/formats.hpp"
#include "api/structural/validate.hpp"
#include "api/validation/field_errors.hpp"

namespace troupe::test {
namespace {

using api::json_allocator;
using api::json_document;
using api::json_value;
using api::schema_node;
using api::schema_type;

bool holds(const schema_node& node, const json_value& value) {
  api::field_errors out;
  api::validate(out, node, value, nullptr);
  return out.empty();
}

// Texts that match common patterns or formats.
constexpr const char* texts[] = {"a",
                                 "abc",
                                 "a-name",
                                 "A",
                                 "Abc",
                                 "1",
                                 "10",
                                 "10m",
                                 "1h",
                                 "30s",
                                 "1d",
                                 "0.5",
                                 "1Gi",
                                 "100%",
                                 "a.b",
                                 "a.example.com",
                                 "example.com/a",
                                 "https://example.com",
                                 "http://example.com/a",
                                 "/a",
                                 "/",
                                 "a@example.com",
                                 "10.0.0.1",
                                 "10.0.0.0/8",
                                 "2026-01-31T00:00:00Z",
                                 "2026-01-31",
                                 "::1",
                                 "aGk=",
                                 "abcdefgh",
                                 "abcdefghijklmnop",
                                 "*",
                                 "*.example.com",
                                 "#/a",
                                 "v1",
                                 "a=b",
                                 "0 0 * * *",
                                 "+1h",
                                 "1234567890abcdef1234567890abcdef12345678",
                                 "sha256:0123456789abcdef"};

class maker {
 public:
  explicit maker(json_allocator& allocator) : allocator_(allocator) {}

  json_value make(const schema_node& node) {
    if (node.fallback) return json_value(*node.fallback, allocator_);
    if (node.rules && !node.rules->allowed.empty())
      return json_value(node.rules->allowed.front(), allocator_);
    if (node.int_or_string) return json_value(1);
    switch (node.type) {
      case schema_type::string:
        return text(node);
      case schema_type::integer:
      case schema_type::number:
        return number(node);
      case schema_type::boolean:
        return json_value(true);
      case schema_type::array:
        return list(node);
      default:
        return object(node);
    }
  }

 private:
  json_value text(const schema_node& node) {
    for (const char* each : texts) {
      json_value value(rapidjson::StringRef(each));
      if (holds(node, value)) return value;
    }
    return json_value("a");
  }

  json_value number(const schema_node& node) {
    for (const std::int64_t each : {1, 0, 2, 5, 10, 30, 60, 100, 1'000, 65'535, -1}) {
      json_value value(each);
      if (holds(node, value)) return value;
    }
    return json_value(node.rules && node.rules->minimum ? *node.rules->minimum : 1);
  }

  json_value list(const schema_node& node) {
    json_value out(rapidjson::kArrayType);
    const auto least = node.rules && node.rules->min_items ? *node.rules->min_items : 0;
    for (std::int64_t i = 0; i < least && node.items; ++i)
      out.PushBack(make(*node.items), allocator_);
    return out;
  }

  void add(json_value& object, const schema_node& node, const std::string& name) {
    if (object.HasMember(name.c_str())) return;
    const auto* property = node.find(name);
    if (property == nullptr) property = node.values.get();
    if (property != nullptr)
      object.AddMember(api::make_text(name, allocator_), make(*property), allocator_);
  }

  json_value object(const schema_node& node) {
    json_value out(rapidjson::kObjectType);
    if (node.embedded) {
      out.AddMember("apiVersion", "v1", allocator_);
      out.AddMember("kind", "ConfigMap", allocator_);
    }
    if (!node.rules) return out;
    for (const auto& name : node.rules->required)
      add(out, node, name);
    const auto least = node.rules->min_properties ? *node.rules->min_properties : 0;
    for (const auto& [name, property, prefix] : node.properties)
      if (static_cast<std::int64_t>(out.MemberCount()) < least) add(out, node, name);
    if (node.values && static_cast<std::int64_t>(out.MemberCount()) < least) add(out, node, "key");
    return with_alternatives(node, std::move(out));
  }

  // The first alternative whose required fields, or single properties, make the object valid.
  json_value with_alternatives(const schema_node& node, json_value out) {
    if (holds(node, out)) return out;
    std::vector<std::vector<std::string>> choices;
    for (const auto* all : {&node.rules->one_of, &node.rules->any_of, &node.rules->all_of})
      for (const auto& each : *all)
        if (each->rules && !each->rules->required.empty()) choices.push_back(each->rules->required);
    for (const auto& [name, property, prefix] : node.properties)
      choices.push_back({name});
    for (const auto& names : choices) {
      json_value tried(out, allocator_);
      for (const auto& name : names)
        add(tried, node, name);
      if (holds(node, tried)) return tried;
    }
    return out;
  }

  json_allocator& allocator_;
};

}  // namespace

std::optional<std::string> schema_example(const api::structural_schema& schema) {
  json_document document;
  auto made = maker(document.GetAllocator()).make(schema.root);
  if (!made.IsObject() || !holds(schema.root, made)) return std::nullopt;
  return api::write_json(made);
}

}  // namespace troupe::test
