#include "tools/field_path.hpp"

#include <fmt/format.h>
#include <google/protobuf/message.h>

#include <charconv>

#include "api/base64.hpp"
#include "api/codec.hpp"
#include "config/nearest.hpp"

namespace troupe::tools {

namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

tl::unexpected<std::string> wrong(std::string_view what, const std::string& why) {
  return tl::make_unexpected(fmt::format("{} {}", what, why));
}

// Quantities and times are messages, too, but one value in JSON.
bool has_fields(const api::field_info& info) {
  return info.type != nullptr && info.type->form() == api::OBJECT;
}

std::string unknown(std::string_view name, const api::type_info& in) {
  std::vector<std::string> known;
  for (const auto& each : in.members())
    known.push_back(each.name());
  const auto near = config::suggestion(name, known);
  if (!near.empty() || known.empty()) return near;
  return fmt::format("; there are {}", fmt::join(known, ", "));
}

// Takes "[3]" from the front of the text; -1 where it is none.
int take_index(std::string_view& text) {
  int index = -1;
  const auto end = text.find(']');
  if (text.empty() || text[0] != '[' || end == text.npos) return -1;
  const auto [at, failed] = std::from_chars(text.data() + 1, text.data() + end, index);
  if (failed != std::errc{} || at != text.data() + end || index < 0) return -1;
  text.remove_prefix(end + 1);
  return index;
}

// The message that holds the member itself, behind inlined ones.
const Message& holder(const Message& in, const api::member& what) {
  const Message* at = &in;
  for (const auto* field : what.through)
    at = &at->GetReflection()->GetMessage(*at, field);
  return *at;
}

std::string json_text(const Message& value) {
  auto text = api::encode_json(value, {}, {});
  if (text.size() >= 2 && text.front() == '"') return text.substr(1, text.size() - 2);
  return text.empty() || text.front() == '{' ? std::string{} : text;
}

// One value of a field, or of a list.
std::string value_text(const Message& in, const FieldDescriptor& field, int index) {
  const auto& access = *in.GetReflection();
  const bool list = field.is_repeated();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING: {
      auto text = list ? access.GetRepeatedString(in, &field, index) : access.GetString(in, &field);
      if (field.type() != FieldDescriptor::TYPE_BYTES) return text;
      std::string coded;
      api::append_base64(coded, text);
      return coded;
    }
    case FieldDescriptor::CPPTYPE_BOOL:
      return (list ? access.GetRepeatedBool(in, &field, index) : access.GetBool(in, &field))
                 ? "true"
                 : "false";
    case FieldDescriptor::CPPTYPE_INT32:
      return std::to_string(list ? access.GetRepeatedInt32(in, &field, index)
                                 : access.GetInt32(in, &field));
    case FieldDescriptor::CPPTYPE_INT64:
      return std::to_string(list ? access.GetRepeatedInt64(in, &field, index)
                                 : access.GetInt64(in, &field));
    case FieldDescriptor::CPPTYPE_MESSAGE:
      if (list) return json_text(access.GetRepeatedMessage(in, &field, index));
      return access.HasField(in, &field) ? json_text(access.GetMessage(in, &field)) : std::string{};
    default:
      return {};
  }
}

// Null where the map has no such key.
const Message* entry_of(const Message& in, const FieldDescriptor& map, const std::string& key) {
  const auto& access = *in.GetReflection();
  for (int i = 0; i < access.FieldSize(in, &map); ++i) {
    const auto& each = access.GetRepeatedMessage(in, &map, i);
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
      return wrong(path, fmt::format("is no field: {} has no \"{}\"{}", at->descriptor().name(),
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
    if (left.empty()) return wrong(path, "is no single value: name one of its fields");
    if (!has_fields(info) || left[0] != '.')
      return wrong(path, fmt::format("is no field: {} has none", name));
    left.remove_prefix(1);
    at = info.type;
  }
}

std::string field_path::text_in(const api::body& object) const {
  const Message* at = &object;
  for (const auto& each : steps_) {
    const Message* in = &holder(*at, *each.what);
    const auto* field = each.what->info->field;
    if (field->is_map()) {
      in = entry_of(*in, *field, each.key);
      if (in == nullptr) return {};
      field = each.what->info->value_field();
    } else if (field->is_repeated() && each.index >= in->GetReflection()->FieldSize(*in, field)) {
      return {};
    }
    if (&each == &steps_.back()) return value_text(*in, *field, each.index);
    const auto& access = *in->GetReflection();
    at = field->is_repeated() ? &access.GetRepeatedMessage(*in, field, each.index)
                              : &access.GetMessage(*in, field);
  }
  return {};
}

}  // namespace troupe::tools
