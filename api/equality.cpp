#include "api/equality.hpp"

#include <google/protobuf/message.h>

#include <algorithm>

#include "api/type_info.hpp"

namespace troupe::api {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

bool same(const Message& a, const Message& b, const type_info& type);

bool same_scalar(const Message& a, const Message& b, const FieldDescriptor* f) {
  const auto& ra = *a.GetReflection();
  const auto& rb = *b.GetReflection();
  std::string scratch_a, scratch_b;
  switch (f->cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      return ra.GetStringReference(a, f, &scratch_a) == rb.GetStringReference(b, f, &scratch_b);
    case FieldDescriptor::CPPTYPE_INT32:
      return ra.GetInt32(a, f) == rb.GetInt32(b, f);
    case FieldDescriptor::CPPTYPE_INT64:
      return ra.GetInt64(a, f) == rb.GetInt64(b, f);
    case FieldDescriptor::CPPTYPE_UINT32:
      return ra.GetUInt32(a, f) == rb.GetUInt32(b, f);
    case FieldDescriptor::CPPTYPE_UINT64:
      return ra.GetUInt64(a, f) == rb.GetUInt64(b, f);
    case FieldDescriptor::CPPTYPE_BOOL:
      return ra.GetBool(a, f) == rb.GetBool(b, f);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return ra.GetDouble(a, f) == rb.GetDouble(b, f);
    case FieldDescriptor::CPPTYPE_FLOAT:
      return ra.GetFloat(a, f) == rb.GetFloat(b, f);
    case FieldDescriptor::CPPTYPE_ENUM:
      return ra.GetEnumValue(a, f) == rb.GetEnumValue(b, f);
    default:
      return false;
  }
}

bool same_element(const Message& a, const Message& b, const FieldDescriptor* f, int i) {
  const auto& ra = *a.GetReflection();
  const auto& rb = *b.GetReflection();
  std::string scratch_a, scratch_b;
  switch (f->cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      return ra.GetRepeatedStringReference(a, f, i, &scratch_a) ==
             rb.GetRepeatedStringReference(b, f, i, &scratch_b);
    case FieldDescriptor::CPPTYPE_INT32:
      return ra.GetRepeatedInt32(a, f, i) == rb.GetRepeatedInt32(b, f, i);
    case FieldDescriptor::CPPTYPE_INT64:
      return ra.GetRepeatedInt64(a, f, i) == rb.GetRepeatedInt64(b, f, i);
    default:
      return false;
  }
}

// The entries of a map in order of key; keys are strings throughout the schema.
std::vector<const Message*> sorted_entries(const Message& m, const FieldDescriptor* f) {
  const auto& reflection = *m.GetReflection();
  std::vector<const Message*> entries;
  for (int i = 0; i < reflection.FieldSize(m, f); ++i)
    entries.push_back(&reflection.GetRepeatedMessage(m, f, i));
  const auto* key = f->message_type()->map_key();
  std::sort(entries.begin(), entries.end(), [key](const Message* x, const Message* y) {
    std::string scratch_x, scratch_y;
    return x->GetReflection()->GetStringReference(*x, key, &scratch_x) <
           y->GetReflection()->GetStringReference(*y, key, &scratch_y);
  });
  return entries;
}

bool same_map(const Message& a, const Message& b, const field_info& info) {
  const auto* f = info.field;
  const auto in_a = sorted_entries(a, f);
  const auto in_b = sorted_entries(b, f);
  const auto* key = f->message_type()->map_key();
  const auto* value = f->message_type()->map_value();
  return std::equal(in_a.begin(), in_a.end(), in_b.begin(), in_b.end(),
                    [&](const Message* x, const Message* y) {
                      if (!same_scalar(*x, *y, key)) return false;
                      if (!info.type) return same_scalar(*x, *y, value);
                      return same(x->GetReflection()->GetMessage(*x, value),
                                  y->GetReflection()->GetMessage(*y, value), *info.type);
                    });
}

bool same_list(const Message& a, const Message& b, const field_info& info) {
  const auto& ra = *a.GetReflection();
  const auto& rb = *b.GetReflection();
  const int size = ra.FieldSize(a, info.field);
  if (size != rb.FieldSize(b, info.field)) return false;
  if (info.field->is_map()) return size == 0 || same_map(a, b, info);
  for (int i = 0; i < size; ++i) {
    if (!info.type && !same_element(a, b, info.field, i)) return false;
    if (info.type && !same(ra.GetRepeatedMessage(a, info.field, i),
                           rb.GetRepeatedMessage(b, info.field, i), *info.type))
      return false;
  }
  return true;
}

bool same_field(const Message& a, const Message& b, const field_info& info) {
  if (info.field->is_repeated()) return same_list(a, b, info);
  const auto& ra = *a.GetReflection();
  const auto& rb = *b.GetReflection();
  const bool in_a = ra.HasField(a, info.field);
  const bool in_b = rb.HasField(b, info.field);
  if (!in_a && !in_b) return true;
  const bool tells_absence =
      info.type ? !info.rule->inline_() && !info.rule->always() : info.rule->presence();
  if (in_a != in_b && tells_absence) return false;
  if (!info.type) return same_scalar(a, b, info.field);
  return same(ra.GetMessage(a, info.field), rb.GetMessage(b, info.field), *info.type);
}

bool same(const Message& a, const Message& b, const type_info& type) {
  for (const auto& info : type.fields())
    if (!same_field(a, b, info)) return false;
  return true;
}

}  // namespace

bool same_meaning(const Message& a, const Message& b) {
  return same(a, b, type_info::of(*a.GetDescriptor()));
}

bool same_field(const Message& a, const Message& b, const FieldDescriptor& field) {
  return same_field(a, b, type_info::of(*a.GetDescriptor()).fields()[field.index()]);
}

}  // namespace troupe::api
