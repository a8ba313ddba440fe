#include "api/structural/validate.hpp"

#include <cmath>
#include <map>
#include <set>

#include "api/codec/codec.hpp"
#include "api/codec/json_text.hpp"
#include "api/limits.hpp"
#include "api/schema/meta_object.pb.h"
#include "api/structural/formats.hpp"
#include "api/validation/field_errors.hpp"

namespace troupe::api {
namespace {

// The name in the type keyword of a schema.
std::string_view type_of(const json_value& value) {
  if (value.IsObject()) return "object";
  if (value.IsArray()) return "array";
  if (value.IsString()) return "string";
  if (value.IsBool()) return "boolean";
  if (value.IsNull()) return "null";
  return value.IsDouble() ? "number" : "integer";
}

bool is_of(const json_value& value, const schema_node& node) {
  if (value.IsNull())
    return node.nullable || (node.type == schema_type::any && !node.int_or_string);
  if (node.int_or_string) return value.IsString() || (value.IsNumber() && !value.IsDouble());
  switch (node.type) {
    case schema_type::any:
      return true;
    case schema_type::object:
      return value.IsObject();
    case schema_type::array:
      return value.IsArray();
    case schema_type::string:
      return value.IsString();
    case schema_type::boolean:
      return value.IsBool();
    case schema_type::integer:
      return value.IsNumber() &&
             (!value.IsDouble() || std::trunc(value.GetDouble()) == value.GetDouble());
    case schema_type::number:
      return value.IsNumber();
  }
  return false;
}

// As Go prints a float64.
std::string number_text(double value) {
  std::string out;
  if (std::trunc(value) == value && std::abs(value) < 9e15)
    append_number(out, static_cast<std::int64_t>(value));
  else
    append_number(out, value);
  return out;
}

std::int64_t characters(std::string_view text) {
  std::int64_t count = 0;
  for (const char c : text)
    count += (static_cast<unsigned char>(c) & 0xC0) != 0x80 ? 1 : 0;
  return count;
}

// The keys of an element of a list of type map, as one text.
std::string keys_of(const json_value& element, const std::vector<std::string>& keys) {
  std::string out = "{";
  for (const auto& key : keys) {
    const auto* value = find_member(element, key);
    if (value == nullptr) continue;
    if (out.size() > 1) out += ',';
    append_json_string(out, key);
    out += ':';
    append_canonical_json(out, *value);
  }
  return out + '}';
}

class validator {
 public:
  explicit validator(field_errors& out) : out_(out) {}

  void visit(const schema_node& node, const json_value& now, const json_value* was) {
    if (!step(1)) return;
    const auto before = out_.size();
    check(node, now, was);
    // Errors of unchanged values are not reported.
    if (out_.size() > before && was != nullptr && same_json(now, *was)) out_.forget_from(before);
  }

 private:
  bool step(std::size_t cost) {
    if (steps_ > limits::schema_steps) return false;
    steps_ += cost;
    if (steps_ <= limits::schema_steps) return true;
    out_.invalid({}, "", "the object is too large to be checked by this schema");
    return false;
  }

  void check(const schema_node& node, const json_value& now, const json_value* was) {
    if (!is_of(now, node)) return wrong_type(node, now);
    if (now.IsNull()) return;
    if (node.rules) check_rules(*node.rules, now);
    if (node.embedded) check_embedded(now);
    if (now.IsObject()) check_members(node, now, was);
    if (now.IsArray()) check_elements(node, now, was);
  }

  std::string here() const { return out_.at.str() + " in body"; }

  void wrong_type(const schema_node& node, const json_value& now) {
    const auto type = type_of(now);
    const auto wanted =
        node.int_or_string ? std::string_view{"integer,string"} : name_of(node.type);
    out_.wrong_type(type, here() + " must be of type " + std::string{wanted} + ": " + quoted(type));
  }

  void invalid(const json_value& value, std::string_view detail) {
    const auto message = here() + " " + std::string{detail};
    if (value.IsString())
      out_.invalid({}, text_of(value), message);
    else
      out_.invalid_json({}, write_json(value), message);
  }

  // -- rules --------------------------------------------------------------------------------------

  void check_rules(const value_rules& rules, const json_value& now) {
    check_allowed(rules, now);
    if (now.IsNumber()) check_number(rules, now);
    if (now.IsString()) check_string(rules, now);
    if (now.IsArray()) {
      const auto size = static_cast<std::int64_t>(now.Size());
      if (rules.max_items && size > *rules.max_items) out_.too_many(size, *rules.max_items);
      if (rules.min_items && size < *rules.min_items)
        invalid(now, "should have at least " + std::to_string(*rules.min_items) + " items");
    }
    if (now.IsObject()) {
      const auto size = static_cast<std::int64_t>(now.MemberCount());
      if (rules.max_properties && size > *rules.max_properties)
        out_.too_many(size, *rules.max_properties);
      if (rules.min_properties && size < *rules.min_properties)
        invalid(now,
                "should have at least " + std::to_string(*rules.min_properties) + " properties");
      check_required(rules, now);
    }
    check_junctors(rules, now);
  }

  void check_required(const value_rules& rules, const json_value& now) {
    if (rules.required.empty() || !step(rules.required.size())) return;
    const member_index members{&now};
    for (const auto& name : rules.required)
      if (members.find(name) == nullptr) out_.required(name);
  }

  void check_allowed(const value_rules& rules, const json_value& now) {
    if (rules.allowed.empty()) return;
    std::vector<std::string> names;
    for (const auto& each : rules.allowed) {
      if (!step(1 + json_bytes(now) / 8) || same_json(each, now)) return;
      names.push_back(each.IsString() ? std::string{text_of(each)} : write_json(each));
    }
    out_.unsupported({}, now.IsString() ? std::string{text_of(now)} : write_json(now), names);
  }

  void check_number(const value_rules& rules, const json_value& now) {
    const double value = now.GetDouble();
    if (rules.minimum) {
      const bool fine = rules.above_minimum ? value > *rules.minimum : value >= *rules.minimum;
      if (!fine)
        invalid(now, std::string{rules.above_minimum ? "should be greater than "
                                                     : "should be greater than or equal to "} +
                         number_text(*rules.minimum));
    }
    if (rules.maximum) {
      const bool fine = rules.below_maximum ? value < *rules.maximum : value <= *rules.maximum;
      if (!fine)
        invalid(now, std::string{rules.below_maximum ? "should be less than "
                                                     : "should be less than or equal to "} +
                         number_text(*rules.maximum));
    }
    if (rules.multiple_of) {
      const double times = value / *rules.multiple_of;
      if (std::trunc(times) != times)
        invalid(now, "should be a multiple of " + number_text(*rules.multiple_of));
    }
  }

  void check_string(const value_rules& rules, const json_value& now) {
    const auto text = text_of(now);
    const auto length = rules.min_length || rules.max_length ? characters(text) : 0;
    if (rules.max_length && length > *rules.max_length)
      out_.too_long({}, static_cast<std::size_t>(*rules.max_length));
    if (rules.min_length && length < *rules.min_length)
      invalid(now, "should be at least " + std::to_string(*rules.min_length) + " chars long");
    if (rules.pattern && step(1 + text.size() / 8) && !rules.pattern->found_in(text))
      invalid(now, "should match '" + rules.pattern->text() + "'");
    if (!rules.format.empty() && step(1 + text.size() / 8) && !has_format(text, rules.format))
      out_.wrong_type(text, here() + " must be of type " + rules.format + ": " + quoted(text));
  }

  // -- junctors -----------------------------------------------------------------------------------

  // Whether the value matches the schema. Its findings are dropped.
  bool holds(const schema_node& node, const json_value& now) {
    const auto before = out_.size();
    visit(node, now, nullptr);
    const bool fine = out_.size() == before;
    if (steps_ <= limits::schema_steps) out_.forget_from(before);
    return fine;
  }

  std::size_t held(const std::vector<schema_node_ptr>& all, const json_value& now) {
    std::size_t count = 0;
    for (const auto& each : all)
      count += holds(*each, now) ? 1 : 0;
    return count;
  }

  void junctor(std::string_view detail) {
    out_.invalid({}, "", quoted(out_.at.str()) + " " + std::string{detail});
  }

  void check_junctors(const value_rules& rules, const json_value& now) {
    for (const auto& each : rules.all_of)
      visit(*each, now, nullptr);
    if (!rules.any_of.empty() && held(rules.any_of, now) == 0)
      junctor("must validate at least one schema (anyOf)");
    if (!rules.one_of.empty()) {
      const auto count = held(rules.one_of, now);
      if (count == 0)
        junctor("must validate one and only one schema (oneOf). Found none valid");
      else if (count > 1)
        junctor("must validate one and only one schema (oneOf). Found " + std::to_string(count) +
                " valid alternatives");
    }
    if (rules.none_of && holds(*rules.none_of, now)) junctor("must not validate the schema (not)");
  }

  // -- nested values ------------------------------------------------------------------------------

  void check_embedded(const json_value& now) {
    for (const char* name : {"apiVersion", "kind"}) {
      const auto* found = find_member(now, name);
      if (found == nullptr || !found->IsString() || found->GetStringLength() == 0)
        out_.required(name, "must not be empty");
    }
    const auto* metadata = find_member(now, "metadata");
    if (metadata == nullptr || !step(1 + json_bytes(*metadata) / 8)) return;
    meta::v1::ObjectMeta read;
    if (const auto fine = decode_into(write_json(*metadata), media::json, read); !fine)
      out_.invalid_json("metadata", write_json(*metadata), fine.error().message);
  }

  void check_members(const schema_node& node, const json_value& now, const json_value* was) {
    if (node.properties.empty() && !node.values) return;
    const member_index before{was};
    for (const auto& each : now.GetObject()) {
      const auto name = text_of(each.name);
      const auto* known = node.find(name);
      const bool value = known == nullptr && node.values != nullptr;
      if (value) known = node.values.get();
      if (known == nullptr) continue;
      const auto step = value ? out_.at.key(name) : out_.at.field(name);
      visit(*known, each.value, before.find(name));
    }
  }

  void check_elements(const schema_node& node, const json_value& now, const json_value* was) {
    if (node.list != schema_list::atomic) check_unique(node, now, was);
    if (!node.items) return;
    std::map<std::string, const json_value*> before;
    const bool keyed = node.list == schema_list::map && node.list_keys != nullptr;
    if (keyed && was != nullptr && was->IsArray())
      for (const auto& each : was->GetArray())
        if (each.IsObject()) before.try_emplace(keys_of(each, *node.list_keys), &each);
    for (rapidjson::SizeType i = 0; i < now.Size(); ++i) {
      const auto step = out_.at.index(i);
      const json_value* found = nullptr;
      if (!before.empty() && now[i].IsObject())
        if (const auto same = before.find(keys_of(now[i], *node.list_keys)); same != before.end())
          found = same->second;
      visit(*node.items, now[i], found);
    }
  }

  static std::string key_of(const schema_node& node, const json_value& element) {
    if (node.list == schema_list::map && node.list_keys)
      return element.IsObject() ? keys_of(element, *node.list_keys) : std::string{};
    std::string out;
    append_canonical_json(out, element);
    return out;
  }

  // Checks that elements of a set and keys of a map are unique.
  void check_unique(const schema_node& node, const json_value& now, const json_value* was) {
    const auto repeated = [&](const json_value& list) {
      std::set<std::string> seen;
      std::vector<rapidjson::SizeType> again;
      const auto cost = 1 + (node.list_keys ? node.list_keys->size() : 0);
      for (rapidjson::SizeType i = 0; i < list.Size() && step(cost); ++i)
        if (!seen.insert(key_of(node, list[i])).second) again.push_back(i);
      return again;
    };
    const auto again = repeated(now);
    if (again.empty() || (was != nullptr && was->IsArray() && !repeated(*was).empty())) return;
    for (const auto i : again) {
      const auto step = out_.at.index(i);
      out_.duplicate_json(key_of(node, now[i]));
    }
  }

  field_errors& out_;
  std::size_t steps_ = 0;
};

}  // namespace

void validate(field_errors& out, const schema_node& node, const json_value& now,
              const json_value* was) {
  validator(out).visit(node, now, was);
}

}  // namespace troupe::api
