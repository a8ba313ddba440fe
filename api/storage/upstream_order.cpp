#include "api/storage/upstream_order.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <string_view>
#include <vector>

namespace troupe::api {

namespace {

enum class holds {
  values,   // no schemas
  schemas,  // a schema or a list of them
  named,    // schemas by name
};

struct keyword {
  std::string_view name;
  holds content = holds::values;
  bool keeps_zero = false;  // a pointer in Go
};

// kubernetes: apiextensions-apiserver/pkg/apis/apiextensions/v1beta1/types_jsonschema.go of 1.20.
constexpr std::array keywords = {
    keyword{"id"},
    keyword{"$schema"},
    keyword{"$ref", holds::values, true},
    keyword{"description"},
    keyword{"type"},
    keyword{"format"},
    keyword{"title"},
    keyword{"default", holds::values, true},
    keyword{"maximum", holds::values, true},
    keyword{"exclusiveMaximum"},
    keyword{"minimum", holds::values, true},
    keyword{"exclusiveMinimum"},
    keyword{"maxLength", holds::values, true},
    keyword{"minLength", holds::values, true},
    keyword{"pattern"},
    keyword{"maxItems", holds::values, true},
    keyword{"minItems", holds::values, true},
    keyword{"uniqueItems"},
    keyword{"multipleOf", holds::values, true},
    keyword{"enum"},
    keyword{"maxProperties", holds::values, true},
    keyword{"minProperties", holds::values, true},
    keyword{"required"},
    keyword{"items", holds::schemas, true},
    keyword{"allOf", holds::schemas},
    keyword{"oneOf", holds::schemas},
    keyword{"anyOf", holds::schemas},
    keyword{"not", holds::schemas, true},
    keyword{"properties", holds::named},
    keyword{"additionalProperties", holds::schemas, true},
    keyword{"patternProperties", holds::named},
    keyword{"dependencies", holds::named},
    keyword{"additionalItems", holds::schemas, true},
    keyword{"definitions", holds::named},
    keyword{"externalDocs", holds::values, true},
    keyword{"example", holds::values, true},
    keyword{"nullable"},
    keyword{"x-kubernetes-preserve-unknown-fields", holds::values, true},
    keyword{"x-kubernetes-embedded-resource"},
    keyword{"x-kubernetes-int-or-string"},
    keyword{"x-kubernetes-list-map-keys"},
    keyword{"x-kubernetes-list-type", holds::values, true},
    keyword{"x-kubernetes-map-type", holds::values, true},
};

bool is_zero(const json_value& value) {
  return value.IsFalse() || (value.IsString() && value.GetStringLength() == 0) ||
         (value.IsArray() && value.Empty()) || (value.IsObject() && value.ObjectEmpty());
}

// The object with its members in another order, but for those that are left out.
template <class Before, class Keep>
void rearrange(json_value& object, Before before, Keep keep, json_allocator& memory) {
  std::vector<json_value::Member*> members;
  members.reserve(object.MemberCount());
  for (auto& member : object.GetObject())
    members.push_back(&member);
  std::stable_sort(members.begin(), members.end(), [&](const auto* a, const auto* b) {
    return before(text_of(a->name), text_of(b->name));
  });
  json_value made(rapidjson::kObjectType);
  for (auto* member : members)
    if (keep(*member)) made.AddMember(member->name, member->value, memory);
  object = made;
}

// Go sorts the members of a map.
void sort_members(json_value& object, json_allocator& memory) {
  rearrange(
      object, std::less<std::string_view>{}, [](const auto&) { return true; }, memory);
}

// Of a value that is no schema.
void sort_deep(json_value& value, json_allocator& memory) {
  if (value.IsObject()) {
    sort_members(value, memory);
    for (auto& member : value.GetObject())
      sort_deep(member.value, memory);
  } else if (value.IsArray()) {
    for (auto& element : value.GetArray())
      sort_deep(element, memory);
  }
}

void order_content(json_value& value, holds content, json_allocator& memory) {
  if (content == holds::values) {
    sort_deep(value, memory);
  } else if (value.IsArray()) {
    for (auto& element : value.GetArray())
      order_content(element, content, memory);
  } else if (value.IsObject() && content == holds::schemas) {
    order_schema(value, memory);
  } else if (value.IsObject()) {
    sort_members(value, memory);
    for (auto& member : value.GetObject())
      order_content(member.value, holds::schemas, memory);
  }
}

// The position of a member in Go's type; behind all of them if it has none.
std::size_t place_of(std::string_view name) {
  const auto found = std::find_if(keywords.begin(), keywords.end(),
                                  [&](const keyword& each) { return each.name == name; });
  return static_cast<std::size_t>(found - keywords.begin());
}

bool is_left_out(const json_value& value, std::size_t place) {
  if (place == keywords.size()) return false;
  return value.IsNull() || (!keywords[place].keeps_zero && is_zero(value));
}

}  // namespace

void order_members(json_value& object, member_names names, json_allocator& memory) {
  json_value made(rapidjson::kObjectType);
  for (const auto* name : names)
    if (auto* found = find_member(object, name))
      made.AddMember(rapidjson::StringRef(name), *found, memory);
  for (auto& member : object.GetObject())
    if (!made.HasMember(member.name)) made.AddMember(member.name, member.value, memory);
  object = made;
}

void order_owners(json_value& object, json_allocator& memory) {
  auto* metadata = find_member(object, "metadata");
  auto* owners = metadata == nullptr ? nullptr : find_member(*metadata, "ownerReferences");
  if (owners == nullptr || !owners->IsArray()) return;
  for (auto& each : owners->GetArray())
    if (each.IsObject()) order_members(each, {"apiVersion", "kind", "name", "uid"}, memory);
}

void order_schema(json_value& schema, json_allocator& memory) {
  if (!schema.IsObject()) return;
  const auto before = [](std::string_view a, std::string_view b) {
    const auto place = place_of(a), other = place_of(b);
    return place != other ? place < other : a < b;
  };
  const auto keep = [&](json_value::Member& member) {
    const auto place = place_of(text_of(member.name));
    if (is_left_out(member.value, place)) return false;
    const auto content = place == keywords.size() ? holds::values : keywords[place].content;
    order_content(member.value, content, memory);
    return true;
  };
  rearrange(schema, before, keep, memory);
}

}  // namespace troupe::api
