#include "tools/object_condition.hpp"

#include <google/protobuf/message.h>

#include <algorithm>
#include <cctype>

#include "api/codec.hpp"
#include "api/type_info.hpp"

namespace troupe::tools {

namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

bool equal_without_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
    return std::tolower(x) == std::tolower(y);
  });
}

const api::member* member_of(const Message& in, std::string_view name) {
  return api::type_info::of(*in.GetDescriptor()).find(name);
}

// The message that holds the member itself, behind inlined ones.
const Message& holder(const Message& in, const api::member& what) {
  const Message* at = &in;
  for (const auto* field : what.through)
    at = &at->GetReflection()->GetMessage(*at, field);
  return *at;
}

// What a message that is written as one value (a Quantity, a Time) is in JSON.
std::string value_text(const Message& value) {
  auto text = api::encode_json(value, {}, {});
  if (text.size() >= 2 && text.front() == '"') return text.substr(1, text.size() - 2);
  return text.empty() || text.front() == '{' ? std::string{} : text;
}

std::string scalar_text(const Message& in, const FieldDescriptor& field) {
  const auto& reflection = *in.GetReflection();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      return reflection.GetString(in, &field);
    case FieldDescriptor::CPPTYPE_BOOL:
      return reflection.GetBool(in, &field) ? "true" : "false";
    case FieldDescriptor::CPPTYPE_INT32:
      return std::to_string(reflection.GetInt32(in, &field));
    case FieldDescriptor::CPPTYPE_INT64:
      return std::to_string(reflection.GetInt64(in, &field));
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return reflection.HasField(in, &field) ? value_text(reflection.GetMessage(in, &field))
                                             : std::string{};
    default:
      return {};
  }
}

bool condition_is(const Message& object, std::string_view type, std::string_view status) {
  const auto* found = member_of(object, "status");
  if (found == nullptr) return false;
  const auto& in = holder(object, *found);
  const auto& of = in.GetReflection()->GetMessage(in, found->info->field);
  const auto* list = of.GetDescriptor()->FindFieldByName("conditions");
  if (list == nullptr || !list->is_repeated()) return false;
  for (int i = 0; i < of.GetReflection()->FieldSize(of, list); ++i) {
    const auto& each = of.GetReflection()->GetRepeatedMessage(of, list, i);
    if (equal_without_case(field_text(each, "type"), type))
      return equal_without_case(field_text(each, "status"), status);
  }
  return false;
}

bool has_desired_replicas(const api::body* object) {
  return object != nullptr &&
         field_text(*object, "status.observedGeneration") ==
             field_text(*object, "metadata.generation") &&
         field_text(*object, "status.replicas") == field_text(*object, "spec.replicas");
}

tl::expected<object_condition, std::string> parse_condition(std::string_view text) {
  const auto equals = text.find('=');
  const std::string type{text.substr(0, equals)};
  const std::string status{equals == text.npos ? "True" : text.substr(equals + 1)};
  if (type.empty() || status.empty())
    return tl::make_unexpected("a condition is written condition=TYPE or condition=TYPE=STATUS");
  return [type, status](const api::body* object) {
    return object != nullptr && condition_is(*object, type, status);
  };
}

}  // namespace

std::string field_text(const api::body& object, std::string_view path) {
  const Message* at = &object;
  for (;;) {
    const auto dot = path.find('.');
    const auto* found = member_of(*at, path.substr(0, dot));
    if (found == nullptr || found->info->field->is_repeated()) return {};
    const auto& in = holder(*at, *found);
    const auto& field = *found->info->field;
    if (dot == path.npos) return scalar_text(in, field);
    if (field.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) return {};
    at = &in.GetReflection()->GetMessage(in, &field);
    path.remove_prefix(dot + 1);
  }
}

tl::expected<object_condition, std::string> parse_object_condition(std::string_view text) {
  constexpr std::string_view condition = "condition=";
  if (text == "delete") return [](const api::body* object) { return object == nullptr; };
  if (text == "desiredReplicas") return has_desired_replicas;
  if (text.substr(0, condition.size()) == condition)
    return parse_condition(text.substr(condition.size()));
  const auto equals = text.find('=');
  if (equals == text.npos || equals == 0)
    return tl::make_unexpected(
        "\"" + std::string{text} +
        "\" is nothing to wait for: write condition=TYPE[=STATUS], delete, desiredReplicas, "
        "podsOnMinions or FIELD.PATH=VALUE");
  return [path = std::string{text.substr(0, equals)},
          value = std::string{text.substr(equals + 1)}](const api::body* object) {
    return object != nullptr && field_text(*object, path) == value;
  };
}

}  // namespace troupe::tools
