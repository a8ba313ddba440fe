#include "api/structural/compile.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "api/codec/json_text.hpp"
#include "api/limits.hpp"
#include "api/structural/complete.hpp"
#include "api/structural/validate.hpp"
#include "api/validation/field_errors.hpp"

namespace troupe::api {
namespace {

enum class place { root, item, field, junctor };

std::optional<schema_type> type_named(std::string_view name) {
  for (const auto type : {schema_type::object, schema_type::array, schema_type::string,
                          schema_type::integer, schema_type::number, schema_type::boolean})
    if (name_of(type) == name) return type;
  return std::nullopt;
}

// Keywords that only some versions of JSON Schema support.
constexpr const char* refused_keywords[] = {
    "$ref", "definitions", "dependencies", "id", "patternProperties", "additionalItems", "$schema"};

// Keywords allowed only in the structural part of the schema.
struct structural_keyword {
  const char* name;
  const char* detail;
};
constexpr structural_keyword not_in_junctors[] = {
    {"type", "must be empty to be structural"},
    {"title", "must be empty to be structural"},
    {"description", "must be empty to be structural"},
    {"default", "must be undefined to be structural"},
    {"nullable", "must be false to be structural"},
    {"additionalProperties", "must be undefined to be structural"},
    {"x-kubernetes-preserve-unknown-fields", "must be false to be structural"},
    {"x-kubernetes-embedded-resource", "must be false to be structural"},
    {"x-kubernetes-int-or-string", "must be false to be structural"},
    {"x-kubernetes-list-map-keys", "must be empty to be structural"},
    {"x-kubernetes-list-type", "must be undefined to be structural"},
    {"x-kubernetes-map-type", "must be undefined to be structural"},
    {"x-kubernetes-validations", "must be empty to be structural"},
};

// Keywords allowed at the root if the status is a subresource.
constexpr std::string_view root_keywords[] = {"description",
                                              "type",
                                              "format",
                                              "title",
                                              "maximum",
                                              "exclusiveMaximum",
                                              "minimum",
                                              "exclusiveMinimum",
                                              "maxLength",
                                              "minLength",
                                              "pattern",
                                              "maxItems",
                                              "minItems",
                                              "uniqueItems",
                                              "multipleOf",
                                              "required",
                                              "items",
                                              "properties",
                                              "externalDocs",
                                              "example",
                                              "x-kubernetes-preserve-unknown-fields",
                                              "x-kubernetes-validations"};

bool is_empty(const json_value& value) {
  return value.IsNull() || value.IsFalse() || (value.IsString() && value.GetStringLength() == 0) ||
         (value.IsArray() && value.Empty());
}

// anyOf: [{type: integer}, {type: string}], the notation of int-or-string in plain OpenAPI.
bool says_int_or_string(const json_value& any_of) {
  const auto is = [&](rapidjson::SizeType i, std::string_view type) {
    if (!any_of[i].IsObject() || any_of[i].MemberCount() != 1) return false;
    const auto* found = find_member(any_of[i], "type");
    return found != nullptr && found->IsString() && text_of(*found) == type;
  };
  return any_of.IsArray() && any_of.Size() == 2 && is(0, "integer") && is(1, "string");
}

class compiler {
 public:
  compiler(field_errors& out, json_allocator& pool) : out_(out), pool_(pool) {}

  // Null if `from` is not an object or nests too deep.
  schema_node_ptr read(const json_value& from, place where) {
    if (!from.IsObject()) {
      out_.invalid_json({}, write_json(from), "must be an object");
      return nullptr;
    }
    if (++depth_ > limits::schema_depth) {
      out_.invalid({}, "", "nests deeper than " + std::to_string(limits::schema_depth) + " levels");
      --depth_;
      return nullptr;
    }
    auto node = std::make_unique<schema_node>();
    for (const char* keyword : refused_keywords)
      if (const auto* found = find_member(from, keyword); found && !is_empty(*found))
        out_.forbidden(keyword, std::string{keyword} + " is not supported");
    if (where == place::junctor)
      refuse_structure(from);
    else
      read_structure(*node, from, where);
    read_children(*node, from, where);
    read_rules(*node, from);
    if (where != place::junctor) check_complete(*node);
    --depth_;
    return node;
  }

 private:
  // -- members ------------------------------------------------------------------------------------

  const json_value* typed(const json_value& from, const char* name, bool right, const char* type) {
    const auto* found = find_member(from, name);
    if (found == nullptr || found->IsNull()) return nullptr;
    if (right) return found;
    out_.invalid_json(name, write_json(*found), std::string{"must be "} + type);
    return nullptr;
  }
  bool flag(const json_value& from, const char* name) {
    const auto* found = find_member(from, name);
    const auto* value = typed(from, name, found != nullptr && found->IsBool(), "a boolean");
    return value != nullptr && value->GetBool();
  }
  std::string text(const json_value& from, const char* name) {
    const auto* found = find_member(from, name);
    const auto* value = typed(from, name, found != nullptr && found->IsString(), "a string");
    return value == nullptr ? std::string{} : std::string{text_of(*value)};
  }
  std::optional<double> number(const json_value& from, const char* name) {
    const auto* found = find_member(from, name);
    const auto* value = typed(from, name, found != nullptr && found->IsNumber(), "a number");
    return value == nullptr ? std::nullopt : std::optional{value->GetDouble()};
  }
  std::optional<std::int64_t> count(const json_value& from, const char* name) {
    const auto value = number(from, name);
    if (!value) return std::nullopt;
    if (*value < 0 || std::trunc(*value) != *value || *value > 9e15) {
      out_.invalid_json(name, write_json(*find_member(from, name)),
                        "must be an integer that is not negative");
      return std::nullopt;
    }
    return static_cast<std::int64_t>(*value);
  }
  std::vector<std::string> texts(const json_value& from, const char* name) {
    std::vector<std::string> all;
    const auto* found = find_member(from, name);
    const auto* value =
        typed(from, name, found != nullptr && found->IsArray(), "a list of strings");
    if (value == nullptr) return all;
    for (const auto& each : value->GetArray()) {
      if (each.IsString())
        all.emplace_back(text_of(each));
      else
        out_.invalid_json(name, write_json(each), "must be a string");
    }
    return all;
  }

  // -- structure ----------------------------------------------------------------------------------

  void refuse_structure(const json_value& from) {
    for (const auto& [name, detail] : not_in_junctors)
      if (const auto* found = find_member(from, name); found && !is_empty(*found))
        out_.forbidden(name, detail);
  }

  void read_structure(schema_node& node, const json_value& from, place where) {
    node.nullable = flag(from, "nullable");
    node.int_or_string = flag(from, "x-kubernetes-int-or-string");
    node.keeps_unknown = flag(from, "x-kubernetes-preserve-unknown-fields");
    node.embedded = flag(from, "x-kubernetes-embedded-resource");
    read_type(node, text(from, "type"), where);
    read_list_type(node, from);
    const auto map = text(from, "x-kubernetes-map-type");
    node.atomic_map = map == "atomic";
    if (!map.empty() && map != "atomic" && map != "granular")
      out_.unsupported("x-kubernetes-map-type", map,
                       std::initializer_list<std::string_view>{"atomic", "granular"});
    if (const auto* found = find_member(from, "default"); found && !found->IsNull())
      node.fallback = std::make_unique<json_value>(*found, pool_);
    if (const auto* found = find_member(from, "uniqueItems"); found && found->IsTrue())
      out_.forbidden("uniqueItems",
                     "uniqueItems cannot be set to true since the runtime complexity becomes "
                     "quadratic");
    if (where == place::root && node.nullable)
      out_.forbidden("nullable", "nullable cannot be true at the root");
  }

  void read_type(schema_node& node, const std::string& type, place where) {
    if (!type.empty()) {
      const auto known = type_named(type);
      if (!known)
        return out_.unsupported("type", type,
                                std::initializer_list<std::string_view>{
                                    "array", "boolean", "integer", "number", "object", "string"});
      node.type = *known;
    }
    if (where == place::root && type != "object") {
      if (type.empty()) return out_.required("type", "must not be empty at the root");
      return out_.invalid("type", type, "must be object at the root");
    }
    if (node.int_or_string && !type.empty())
      out_.forbidden("type", "must be empty if x-kubernetes-int-or-string is true");
    if (node.embedded && type != "object")
      out_.invalid("type", type, "must be object if x-kubernetes-embedded-resource is true");
    if (!type.empty() || node.int_or_string || node.keeps_unknown) return;
    out_.required("type", where == place::item ? "must not be empty for specified array items"
                                               : "must not be empty for specified object fields");
  }

  void read_list_type(schema_node& node, const json_value& from) {
    const auto type = text(from, "x-kubernetes-list-type");
    auto keys = texts(from, "x-kubernetes-list-map-keys");
    if (type == "set") node.list = schema_list::set;
    if (type == "map") node.list = schema_list::map;
    if (!type.empty() && type != "atomic" && type != "set" && type != "map")
      out_.unsupported("x-kubernetes-list-type", type,
                       std::initializer_list<std::string_view>{"atomic", "map", "set"});
    if (!type.empty() && node.type != schema_type::array)
      out_.invalid("type", name_of(node.type),
                   "must be array if x-kubernetes-list-type is specified");
    if (node.list == schema_list::map && keys.empty())
      out_.required("x-kubernetes-list-map-keys",
                    "must not be empty if x-kubernetes-list-type is map");
    if (node.list != schema_list::map && !keys.empty())
      out_.forbidden("x-kubernetes-list-map-keys",
                     "must be empty if x-kubernetes-list-type is not map");
    if (!keys.empty()) node.list_keys = std::make_unique<std::vector<std::string>>(std::move(keys));
  }

  // -- nested schemas -----------------------------------------------------------------------------

  void read_children(schema_node& node, const json_value& from, place where) {
    const auto below = [where](place otherwise) {
      return where == place::junctor ? place::junctor : otherwise;
    };
    if (const auto* found = find_member(from, "properties"); found && !found->IsNull()) {
      const auto step = out_.at.field("properties");
      if (!found->IsObject()) out_.invalid_json({}, write_json(*found), "must be an object");
      read_properties(node, *found, below(place::field));
    }
    if (const auto* found = find_member(from, "items"); found && !found->IsNull()) {
      const auto step = out_.at.field("items");
      if (found->IsArray())
        out_.forbidden({}, "items must be a schema object and not an array");
      else
        node.items = read(*found, below(place::item));
    }
    if (where != place::junctor) read_values(node, from, where);
    if (node.type == schema_type::array && !node.items) out_.required("items", "must be specified");
    if (node.embedded && node.properties.empty() && !node.keeps_unknown)
      out_.required("properties",
                    "must not be empty if x-kubernetes-embedded-resource is true without "
                    "x-kubernetes-preserve-unknown-fields");
    if (node.list == schema_list::map && node.items) check_list_keys(node);
  }

  void read_properties(schema_node& node, const json_value& all, place where) {
    if (!all.IsObject()) return;
    node.properties.reserve(all.MemberCount());
    for (const auto& each : all.GetObject()) {
      const auto step = out_.at.key(text_of(each.name));
      auto made = read(each.value, where);
      if (!made) continue;
      node.sets_members = node.sets_members || made->fallback;
      node.properties.emplace_back(text_of(each.name), std::move(made));
    }
    std::stable_sort(node.properties.begin(), node.properties.end(),
                     [](const auto& a, const auto& b) { return a.name < b.name; });
  }

  void read_values(schema_node& node, const json_value& from, place where) {
    const auto* found = find_member(from, "additionalProperties");
    if (found == nullptr || found->IsNull() || found->IsFalse()) return;
    if (where == place::root)
      return out_.forbidden("additionalProperties", "must not be used at the root");
    if (!node.properties.empty())
      return out_.forbidden("additionalProperties",
                            "additionalProperties and properties are mutual exclusive");
    const auto step = out_.at.field("additionalProperties");
    if (found->IsTrue())
      node.values_of_any = true;
    else
      node.values = read(*found, place::field);
  }

  // Keys of list elements must be required scalars.
  void check_list_keys(const schema_node& node) {
    if (node.items->type != schema_type::object) {
      const auto step = out_.at.field("items");
      return out_.invalid("type", name_of(node.items->type),
                          "must be object if parent array's x-kubernetes-list-type is map");
    }
    if (!node.list_keys) return;
    for (std::size_t i = 0; i < node.list_keys->size(); ++i) {
      const auto& key = (*node.list_keys)[i];
      const auto* property = node.items->find(key);
      const auto step = out_.at.item("x-kubernetes-list-map-keys", i);
      if (property == nullptr)
        out_.invalid({}, key, "entries must all be names of item properties");
      else if (property->type == schema_type::object || property->type == schema_type::array)
        out_.invalid({}, key,
                     "must be a scalar type if parent array's x-kubernetes-list-type is map");
    }
  }

  // -- rules --------------------------------------------------------------------------------------

  void read_rules(schema_node& node, const json_value& from) {
    value_rules rules;
    rules.minimum = number(from, "minimum");
    rules.maximum = number(from, "maximum");
    rules.above_minimum = flag(from, "exclusiveMinimum");
    rules.below_maximum = flag(from, "exclusiveMaximum");
    rules.multiple_of = number(from, "multipleOf");
    if (rules.multiple_of && *rules.multiple_of <= 0)
      out_.invalid_json("multipleOf", write_json(*find_member(from, "multipleOf")),
                        "must be greater than 0");
    rules.min_length = count(from, "minLength");
    rules.max_length = count(from, "maxLength");
    rules.min_items = count(from, "minItems");
    rules.max_items = count(from, "maxItems");
    rules.min_properties = count(from, "minProperties");
    rules.max_properties = count(from, "maxProperties");
    rules.format = text(from, "format");
    rules.required = texts(from, "required");
    read_pattern(rules, text(from, "pattern"));
    if (const auto* found = find_member(from, "enum"); found && found->IsArray())
      for (const auto& each : found->GetArray())
        rules.allowed.emplace_back(each, pool_);
    read_junctors(rules, from, node.int_or_string);
    const bool any = rules.minimum || rules.maximum || rules.multiple_of || rules.min_length ||
                     rules.max_length || rules.min_items || rules.max_items ||
                     rules.min_properties || rules.max_properties || rules.pattern ||
                     !rules.format.empty() || !rules.allowed.empty() || !rules.required.empty() ||
                     !rules.all_of.empty() || !rules.any_of.empty() || !rules.one_of.empty() ||
                     rules.none_of;
    if (any) node.rules = std::make_unique<value_rules>(std::move(rules));
  }

  void read_pattern(value_rules& rules, std::string pattern) {
    if (pattern.empty()) return;
    if (const auto known = patterns_.find(pattern); known != patterns_.end()) {
      rules.pattern = known->second;
      return;
    }
    if (patterns_.size() >= limits::schema_patterns ||
        instructions_ >= limits::schema_pattern_instructions)
      return out_.invalid("pattern", pattern,
                          "is one too many: a schema may have " +
                              std::to_string(limits::schema_patterns) +
                              " different patterns, and they are limited in size together");
    const auto found = text_pattern::check(pattern);
    // A pattern that fails to compile counts with a tenth of the limit.
    instructions_ +=
        found.problem.empty() ? found.instructions : limits::schema_pattern_instructions / 10;
    if (!found.problem.empty())
      return out_.invalid("pattern", pattern,
                          "must be a valid regular expression, but isn't: " + found.problem);
    rules.pattern = std::make_shared<const text_pattern>(pattern);
    patterns_.emplace(std::move(pattern), rules.pattern);
  }

  void read_junctors(value_rules& rules, const json_value& from, bool int_or_string) {
    const auto* any_of = find_member(from, "anyOf");
    if (any_of && !(int_or_string && says_int_or_string(*any_of)))
      read_junctor(rules.any_of, *any_of, "anyOf", 0);
    if (const auto* one_of = find_member(from, "oneOf"))
      read_junctor(rules.one_of, *one_of, "oneOf", 0);
    if (const auto* all_of = find_member(from, "allOf")) {
      const auto* first = all_of->IsArray() && !all_of->Empty() && (*all_of)[0].IsObject()
                              ? find_member((*all_of)[0], "anyOf")
                              : nullptr;
      const bool says_it = int_or_string && first && says_int_or_string(*first);
      read_junctor(rules.all_of, *all_of, "allOf", says_it ? 1 : 0);
    }
    if (const auto* none_of = find_member(from, "not"); none_of && !none_of->IsNull()) {
      const auto step = out_.at.field("not");
      rules.none_of = read(*none_of, place::junctor);
    }
  }

  void read_junctor(std::vector<schema_node_ptr>& into, const json_value& from, const char* name,
                    rapidjson::SizeType first) {
    if (from.IsNull()) return;
    if (!from.IsArray()) return out_.invalid_json(name, write_json(from), "must be a list");
    for (auto i = first; i < from.Size(); ++i) {
      const auto step = out_.at.item(name, i);
      if (auto made = read(from[i], place::junctor)) into.push_back(std::move(made));
    }
  }

  // -- each field in a junctor is in the structure -----------------------------------------------

  void check_complete(const schema_node& node) {
    if (!node.rules) return;
    for (const auto* all : {&node.rules->all_of, &node.rules->any_of, &node.rules->one_of})
      for (const auto& each : *all)
        check_complete(*each, node);
    if (node.rules->none_of) check_complete(*node.rules->none_of, node);
  }

  void check_complete(const schema_node& nested, const schema_node& spine) {
    if (nested.items) {
      const auto step = out_.at.field("items");
      if (spine.items)
        check_complete(*nested.items, *spine.items);
      else
        out_.required({}, because);
    }
    for (const auto& [name, property, prefix] : nested.properties) {
      const auto* known = spine.find(name);
      if (known == nullptr) known = spine.values.get();
      const auto properties = out_.at.field("properties");
      const auto key = out_.at.key(name);
      if (known != nullptr)
        check_complete(*property, *known);
      else
        out_.required({}, because);
    }
    if (!nested.rules) return;
    for (const auto* all : {&nested.rules->all_of, &nested.rules->any_of, &nested.rules->one_of})
      for (const auto& each : *all)
        check_complete(*each, spine);
    if (nested.rules->none_of) check_complete(*nested.rules->none_of, spine);
  }

  static constexpr std::string_view because =
      "because it is defined in an anyOf, allOf, oneOf or not of this schema";

  field_errors& out_;
  json_allocator& pool_;
  std::size_t depth_ = 0;
  std::map<std::string, std::shared_ptr<const text_pattern>> patterns_;
  std::size_t instructions_ = 0;
};

// Refuses defaults that the schema itself would prune or reject. Each default is copied to be
// completed.
void check_defaults(field_errors& out, const schema_node& node) {
  if (node.fallback) {
    const auto text = write_json(*node.fallback);
    json_document copy;
    copy.CopyFrom(*node.fallback, copy.GetAllocator());
    std::vector<std::string> unknown;
    prune(copy, node, copy.GetAllocator(), &unknown);
    if (!unknown.empty())
      out.invalid_json("default", text,
                       "must not have unspecified fields, but has " + unknown.front());
    if (set_defaults(copy, node, copy.GetAllocator()) == completion::too_large)
      out.too_long("default", limits::document_bytes);
    const auto step = out.at.field("default");
    validate(out, node, copy, nullptr);
  }
  {
    const auto step = out.at.field("properties");
    for (const auto& [name, property, prefix] : node.properties) {
      const auto key = out.at.key(name);
      check_defaults(out, *property);
    }
  }
  if (node.items) {
    const auto step = out.at.field("items");
    check_defaults(out, *node.items);
  }
  if (node.values) {
    const auto step = out.at.field("additionalProperties");
    check_defaults(out, *node.values);
  }
}

schema_node_ptr take_property(schema_node& from, std::string_view name) {
  for (auto& each : from.properties) {
    if (each.name != name) continue;
    auto taken = std::move(each.node);
    from.properties.erase(from.properties.begin() + (&each - from.properties.data()));
    return taken;
  }
  return nullptr;
}

bool is_head(std::string_view name) {
  return name == "apiVersion" || name == "kind" || name == "metadata";
}

// apiVersion, kind and metadata are implicit. A schema may restrict only the names in
// metadata.
void take_head(field_errors& out, structural_schema& made) {
  const auto step = out.at.field("properties");
  for (const char* name : {"apiVersion", "kind"})
    if (const auto taken = take_property(made.root, name)) {
      const auto key = out.at.key(name);
      if (taken->type != schema_type::string)
        out.invalid("type", name_of(taken->type), "must be string");
      if (taken->fallback) out.forbidden("default", "must not be set");
    }
  if (auto metadata = take_property(made.root, "metadata")) {
    const auto key = out.at.key("metadata");
    if (metadata->type != schema_type::object)
      out.invalid("type", name_of(metadata->type), "must be object");
    if (metadata->fallback) out.forbidden("default", "must not be set");
    made.name = take_property(*metadata, "name");
    made.generate_name = take_property(*metadata, "generateName");
    for (auto* each : {made.name.get(), made.generate_name.get()})
      if (each && each->fallback) out.forbidden("default", "must not be set in top-level metadata");
    if (!metadata->properties.empty())
      out.forbidden({},
                    "must not specify anything other than name and generateName, but metadata "
                    "is implicitly specified");
  }
  if (made.root.rules)
    std::erase_if(made.root.rules->required, [](const auto& each) { return is_head(each); });
}

void check_root(field_errors& out, const json_value& root) {
  for (const auto& each : root.GetObject()) {
    const auto name = text_of(each.name);
    if (!is_empty(each.value) && std::find(std::begin(root_keywords), std::end(root_keywords),
                                           name) == std::end(root_keywords))
      out.invalid({}, name,
                  "only " + std::string{"description, type, format, title, bounds, pattern, "} +
                      "required, items, properties, externalDocs, example and "
                      "x-kubernetes-preserve-unknown-fields fields are allowed at the root of the "
                      "schema if the status subresource is enabled");
  }
}

}  // namespace

std::shared_ptr<const structural_schema> compile_schema(field_errors& out, std::string_view json,
                                                        const compile_options& options) {
  const auto before = out.size();
  json_document text;
  if (auto read = parse_json(text, json, "the schema"); !read) {
    out.invalid({}, "", read.error().message);
    return nullptr;
  }
  auto made = std::make_shared<structural_schema>();
  auto root = compiler(out, made->pool).read(text, place::root);
  if (!root || out.size() > before) return nullptr;
  made->root = std::move(*root);
  if (options.status_apart) check_root(out, text);
  take_head(out, *made);
  if (out.size() == before) check_defaults(out, made->root);
  return out.size() > before ? nullptr : made;
}

}  // namespace troupe::api
