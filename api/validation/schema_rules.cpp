// The rules of the schema, checked by reflection.
#include <google/protobuf/message.h>

#include "api/codec/codec.hpp"
#include "api/equality.hpp"
#include "api/type_info.hpp"
#include "api/validation/checks.hpp"

namespace troupe::api::validation {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

void walk(field_errors& out, const Message& message, const type_info& type, bool is_object);

constexpr std::int64_t largest_file_mode = 0777;

// Some ranges have a message of their own.
//
// kubernetes: pkg/apis/core/validation, apiserver/pkg/util/webhook.
std::string in_range(const field_info& info, std::int64_t value) {
  const auto& rule = *info.rule;
  const auto& owner = info.field->containing_type()->name();
  if (rule.maximum() == largest_file_mode)
    return "must be a number between 0 and 0777 (octal), both inclusive";
  if (owner == "ServiceAccountTokenProjection")
    return value < rule.minimum() ? "may not specify a duration less than 10 minutes"
                                  : "may not specify a duration larger than 2^32 seconds";
  if (rule.has_minimum() && rule.has_maximum())
    return (owner == "ServiceReference" ? "port is not valid: must be between "
                                        : "must be between ") +
           std::to_string(rule.minimum()) + " and " + std::to_string(rule.maximum()) +
           ", inclusive";
  if (rule.has_minimum())
    return "must be greater than or equal to " + std::to_string(rule.minimum());
  return "must be less than or equal to " + std::to_string(rule.maximum());
}

void check_number(field_errors& out, const field_info& info, std::int64_t value) {
  const auto& rule = *info.rule;
  if ((rule.has_minimum() && value < rule.minimum()) ||
      (rule.has_maximum() && value > rule.maximum()))
    out.invalid(info.name(), value, in_range(info, value));
}

void check_text(field_errors& out, std::string_view name, const Rule& rule,
                const std::string& value) {
  if (rule.allowed_size() > 0) {
    for (const auto& one : rule.allowed())
      if (one == value) return;
    out.unsupported(name, value, rule.allowed());
    return;
  }
  if (rule.syntax() != FREE && !value.empty())
    out.each(name, value, check_syntax(rule.syntax(), value));
}

bool is_never_absent(const Rule& rule) {
  return rule.required() && rule.always();
}

void check_scalar(field_errors& out, const Message& message, const field_info& info) {
  const auto& reflection = *message.GetReflection();
  const auto& rule = *info.rule;
  std::string scratch;
  switch (info.field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING: {
      const auto& value = reflection.GetStringReference(message, info.field, &scratch);
      if (value.empty() && rule.required() && !rule.always())
        out.required(info.name());
      else if (!value.empty() || rule.presence() || is_never_absent(rule))
        check_text(out, info.name(), rule, value);
      break;
    }
    case FieldDescriptor::CPPTYPE_INT32:
      check_number(out, info, reflection.GetInt32(message, info.field));
      break;
    case FieldDescriptor::CPPTYPE_INT64:
      check_number(out, info, reflection.GetInt64(message, info.field));
      break;
    default:
      break;
  }
}

// The syntax rule of a map applies to its keys.
void check_map(field_errors& out, const Message& message, const field_info& info) {
  if (info.rule->syntax() == FREE) return;
  const auto& reflection = *message.GetReflection();
  const auto* key = info.field->message_type()->map_key();
  std::string scratch;
  const auto step = out.at.field(info.name());
  for (int i = 0; i < reflection.FieldSize(message, info.field); ++i) {
    const auto& entry = reflection.GetRepeatedMessage(message, info.field, i);
    const auto& name = entry.GetReflection()->GetStringReference(entry, key, &scratch);
    const auto error_messages = check_syntax(info.rule->syntax(), name);
    if (error_messages.empty()) continue;
    const auto inner = out.at.key(name);
    out.each({}, name, error_messages);
  }
}

void check_list(field_errors& out, const Message& message, const field_info& info) {
  const auto& reflection = *message.GetReflection();
  const int size = reflection.FieldSize(message, info.field);
  if (size == 0 && info.rule->required() && !info.rule->always()) out.required(info.name());
  if (info.field->is_map()) return check_map(out, message, info);
  std::string scratch;
  for (int i = 0; i < size; ++i) {
    if (info.type) {
      const auto step = out.at.item(info.name(), i);
      walk(out, reflection.GetRepeatedMessage(message, info.field, i), *info.type, false);
    } else if (info.field->cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
      if (info.rule->syntax() == FREE && info.rule->allowed_size() == 0) return;
      const auto step = out.at.item(info.name(), i);
      check_text(out, {}, *info.rule,
                 reflection.GetRepeatedStringReference(message, info.field, i, &scratch));
    }
  }
}

std::string_view what_is_united(const type_info& type) {
  const auto& name = type.descriptor().name();
  if (name == "VolumeSource" || name == "PersistentVolumeSource") return "volume type";
  if (name.ends_with("Handler")) return "handler type";
  if (name == "VolumeProjection") return "volume source";
  return "of its fields";
}

// EnvVarSource has its own messages, see check_env.
void check_union(field_errors& out, const Message& message, const type_info& type) {
  if (type.union_of_fields() == ANY || type.descriptor().name() == "EnvVarSource") return;
  int present = 0;
  const std::string description(what_is_united(type));
  for (const auto& info : type.fields()) {
    if (!message.GetReflection()->HasField(message, info.field)) continue;
    if (++present > 1) out.forbidden(info.name(), "may not specify more than 1 " + description);
  }
  if (present == 0 && type.union_of_fields() == EXACTLY_ONE)
    out.required({}, "must specify a " + description);
}

void check_field(field_errors& out, const Message& message, const field_info& info) {
  if (info.field->is_repeated()) return check_list(out, message, info);
  const auto& reflection = *message.GetReflection();
  if (info.rule->inline_())
    return walk(out, reflection.GetMessage(message, info.field), *info.type, false);
  if (!reflection.HasField(message, info.field) && !is_never_absent(*info.rule)) {
    if (info.rule->required()) out.required(info.name());
    return;
  }
  if (!info.type) return check_scalar(out, message, info);
  const auto step = out.at.field(info.name());
  walk(out, reflection.GetMessage(message, info.field), *info.type, false);
}

void walk(field_errors& out, const Message& message, const type_info& type, bool is_object) {
  if (type.form() != OBJECT) return;
  check_union(out, message, type);
  for (const auto& info : type.fields()) {
    if (is_object && (info.name() == "status" || info.name() == "metadata")) continue;
    check_field(out, message, info);
  }
}

std::string as_json(const Message& holder, const field_info& info) {
  const auto& reflection = *holder.GetReflection();
  if (info.type && !info.field->is_repeated())
    return encode_json(reflection.GetMessage(holder, info.field), {}, {});
  if (info.field->is_repeated()) return "[]";
  switch (info.field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      return quoted(reflection.GetString(holder, info.field));
    case FieldDescriptor::CPPTYPE_INT32:
      return std::to_string(reflection.GetInt32(holder, info.field));
    case FieldDescriptor::CPPTYPE_INT64:
      return std::to_string(reflection.GetInt64(holder, info.field));
    default:
      return reflection.GetBool(holder, info.field) ? "true" : "false";
  }
}

void walk_immutable(field_errors& out, const Message& now, const Message& was,
                    const type_info& type) {
  for (const auto& info : type.fields()) {
    if (info.rule->immutable()) {
      if (!same_field(now, was, *info.field))
        out.invalid_json(info.name(), as_json(now, info), "field is immutable");
    } else if (info.type && !info.field->is_repeated() && info.type->form() == OBJECT &&
               info.name() != "status") {
      const auto step = out.at.field(info.name());
      walk_immutable(out, now.GetReflection()->GetMessage(now, info.field),
                     was.GetReflection()->GetMessage(was, info.field), *info.type);
    }
  }
}

}  // namespace

void check_rules(field_errors& out, const Message& message, bool is_object) {
  walk(out, message, type_info::of(*message.GetDescriptor()), is_object);
}

void check_immutable(field_errors& out, const Message& now, const Message& was) {
  walk_immutable(out, now, was, type_info::of(*now.GetDescriptor()));
}

}  // namespace troupe::api::validation
