#include "tools/client/field_path.hpp"

#include <fmt/format.h>
#include <google/protobuf/message.h>

#include <charconv>

#include "api/codec/codec.hpp"
#include "api/values/base64.hpp"
#include "config/nearest.hpp"

namespace troupe::tools {

namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

tl::unexpected<std::string> wrong(std::string_view path, const std::string& reason) {
  return tl::make_unexpected(fmt::format("{} {}", path, reason));
}

// False for quantities and times: they are messages, but a single value in JSON.
bool has_fields(const api::field_info& info) {
  return info.type != nullptr && info.type->form() == api::OBJECT;
}

std::string unknown(std::string_view name, const api::type_info& type) {
  std::vector<std::string> known;
  for (const auto& each : type.members())
    known.push_back(each.name());
  const auto near = config::suggestion(name, known);
  if (!near.empty() || known.empty()) return near;
  return fmt::format("; there are {}", fmt::join(known, ", "));
}

// Removes "[3]" from the front of the text; -1 if the text does not begin with an index.
int take_index(std::string_view& text) {
  int index = -1;
  const auto end = text.find(']');
  if (text.empty() || text[0] != '[' || end == text.npos) return -1;
  const auto [at, failed] = std::from_chars(text.data() + 1, text.data() + end, index);
  if (failed != std::errc{} || at != text.data() + end || index < 0) return -1;
  text.remove_prefix(end + 1);
  return index;
}

// The message that holds the member itself, inside inlined messages.
const Message& holder(const Message& message, const api::member& member) {
  const Message* at = &message;
  for (const auto* field : member.through)
    at = &at->GetReflection()->GetMessage(*at, field);
  return *at;
}

std::string json_text(const Message& value) {
  auto text = api::encode_json(value, {}, {});
  if (text.size() >= 2 && text.front() == '"') return text.substr(1, text.size() - 2);
  return text.empty() || text.front() == '{' ? std::string{} : text;
}

// One value of a field, or of a list field.
std::string value_text(const Message& message, const FieldDescriptor& field, int index) {
  const auto& access = *message.GetReflection();
  const bool list = field.is_repeated();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING: {
      auto text = list ? access.GetRepeatedString(message, &field, index)
                       : access.GetString(message, &field);
      if (field.type() != FieldDescriptor::TYPE_BYTES) return text;
      std::string coded;
      api::append_base64(coded, text);
      return coded;
    }
    case FieldDescriptor::CPPTYPE_BOOL:
      return (list ? access.GetRepeatedBool(message, &field, index)
                   : access.GetBool(message, &field))
                 ? "true"
                 : "false";
    case FieldDescriptor::CPPTYPE_INT32:
      return std::to_string(list ? access.GetRepeatedInt32(message, &field, index)
                                 : access.GetInt32(message, &field));
    case FieldDescriptor::CPPTYPE_INT64:
      return std::to_string(list ? access.GetRepeatedInt64(message, &field, index)
                                 : access.GetInt64(message, &field));
    case FieldDescriptor::CPPTYPE_MESSAGE:
      if (list) return json_text(access.GetRepeatedMessage(message, &field, index));
      return access.HasField(message, &field) ? json_text(access.GetMessage(message, &field))
                                              : std::string{};
    default:
      return {};
  }
}

// Null if the map has no such key.
const Message* entry_of(const Message& message, const FieldDescriptor& map,
                        const std::string& key) {
  const auto& access = *message.GetReflection();
  for (int i = 0; i < access.FieldSize(message, &map); ++i) {
    const auto& each = access.GetRepeatedMessage(message, &map, i);
    if (each.GetReflection()->GetString(each, map.message_type()->map_key()) == key) return &each;
  }
  return nullptr;
}

}  // namespace

tl::expected<field_path, std::string> field_path::parse(const google::protobuf::Descriptor& type,
                                                        std::string_view path) {
  field_path out;
  const auto* at = &api::type_info::of(type);
  for (auto left = path;;) {
    const auto name = left.substr(0, left.find_first_of(".["));
    const auto* found = at->find(name);
    if (found == nullptr)
      return wrong(path, fmt::format("is not a field: {} has no \"{}\"{}", at->descriptor().name(),
                                     name, unknown(name, *at)));
    left.remove_prefix(name.size());
    const auto& info = *found->info;
    step next{found, {}};
    if (info.field->is_map()) {
      if (left.size() < 2 || left[0] != '.')
        return wrong(path, fmt::format("leads through a map: write {}.KEY", name));
      left.remove_prefix(1);
      next.key = left.substr(0, has_fields(info) ? left.find('.') : left.npos);
      left.remove_prefix(next.key.size());
    } else if (info.field->is_repeated()) {
      next.index = take_index(left);
      if (next.index < 0)
        return wrong(path, fmt::format("leads through a list: write {}[0]", name));
    }
    out.steps_.push_back(std::move(next));
    if (left.empty() && !has_fields(info)) return out;
    if (left.empty()) return wrong(path, "is not a single value: name one of its fields");
    if (!has_fields(info) || left[0] != '.')
      return wrong(path, fmt::format("is not a field: {} has none", name));
    left.remove_prefix(1);
    at = info.type;
  }
}

std::string field_path::text_in(const api::body& object) const {
  const Message* at = &object;
  for (const auto& each : steps_) {
    const Message* message = &holder(*at, *each.member);
    const auto* field = each.member->info->field;
    if (field->is_map()) {
      message = entry_of(*message, *field, each.key);
      if (message == nullptr) return {};
      field = each.member->info->value_field();
    } else if (field->is_repeated() &&
               each.index >= message->GetReflection()->FieldSize(*message, field)) {
      return {};
    }
    if (&each == &steps_.back()) return value_text(*message, *field, each.index);
    const auto& access = *message->GetReflection();
    at = field->is_repeated() ? &access.GetRepeatedMessage(*message, field, each.index)
                              : &access.GetMessage(*message, field);
  }
  return {};
}

}  // namespace troupe::tools
