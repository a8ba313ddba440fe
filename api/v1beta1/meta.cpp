// Names, identity and labels.
#include <google/protobuf/message.h>

#include <cstdio>

#include "api/conversion/conversion.hpp"
#include "api/invariant.hpp"
#include "api/v1beta1/conversion.hpp"
#include "api/v1beta1/v1beta1.hpp"
#include "api/values/ascii.hpp"
#include "api/values/integer.hpp"
#include "api/values/syntax.hpp"

namespace troupe::api::v1beta1 {
namespace {

// The length of the readable part of a name or label value: leaves room for the hash within 63
// characters, the limit of service names and label values.
constexpr std::size_t readable_size = 48;

// FNV-1a: the name for an id must never change.
std::uint32_t hash(std::string_view text) {
  std::uint32_t out = 2166136261u;
  for (const char c : text)
    out = (out ^ static_cast<unsigned char>(c)) * 16777619u;
  return out;
}

std::string hash_suffix(std::string_view text) {
  char end[10];
  std::snprintf(end, sizeof end, "-%08x", hash(text));
  return end;
}

bool is_letter(char c) {
  return c >= 'a' && c <= 'z';
}

const google::protobuf::FieldDescriptor* meta_field(const body& external) {
  const auto* field = external.GetDescriptor()->FindFieldByName("meta");
  ensure(field != nullptr && field->message_type() == TypeMeta::descriptor(),
         "every object of v1beta1 has its type meta");
  return field;
}

}  // namespace

const kind_info* kind_named(std::string_view kind) {
  return conversions::instance().find("v1beta1", kind).get();
}

const TypeMeta& type_meta(const body& external) {
  return static_cast<const TypeMeta&>(
      external.GetReflection()->GetMessage(external, meta_field(external)));
}

TypeMeta& type_meta(body& external) {
  return static_cast<TypeMeta&>(
      *external.GetReflection()->MutableMessage(&external, meta_field(external)));
}

std::string name_of(std::string_view id) {
  if (id.empty() || check_dns_subdomain(id).empty()) return std::string(id);
  std::string out;
  for (char c : id.substr(0, readable_size)) {
    c = to_lower(c);
    out += is_letter(c) || (c >= '0' && c <= '9') ? c : '-';
  }
  if (!is_letter(out.front())) out.insert(0, 1, 'x');
  return out + hash_suffix(id);
}

std::string label_value_of(std::string_view value) {
  if (check_label_value(value).empty()) return std::string(value);
  std::string out;
  for (const char c : value.substr(0, readable_size))
    out += is_letter(c) || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ? c : '-';
  if (out.front() == '-') out.insert(0, 1, 'x');
  return out + hash_suffix(value);
}

void to_labels(const label_map& from, label_map& to) {
  for (const auto& [key, value] : from)
    to[key] = label_value_of(value);
}

void to_meta(const TypeMeta& from, meta::v1::ObjectMeta& to) {
  if (!from.id().empty()) to.set_name(name_of(from.id()));
  if (!from.uid().empty()) to.set_uid(from.uid());
  if (!from.namespace_().empty()) to.set_namespace_(from.namespace_());
  if (!from.self_link().empty()) to.set_self_link(from.self_link());
  if (from.has_creation_timestamp()) *to.mutable_creation_timestamp() = from.creation_timestamp();
  if (from.resource_version() > 0) to.set_resource_version(std::to_string(from.resource_version()));
  *to.mutable_annotations() = from.annotations();
}

void from_meta(const meta::v1::ObjectMeta& from, TypeMeta& to) {
  if (!from.name().empty()) to.set_id(from.name());
  if (!from.uid().empty()) to.set_uid(from.uid());
  if (!from.namespace_().empty()) to.set_namespace_(from.namespace_());
  if (!from.self_link().empty()) to.set_self_link(from.self_link());
  if (from.has_creation_timestamp()) *to.mutable_creation_timestamp() = from.creation_timestamp();
  const auto revision = parse_integer<std::int64_t>(from.resource_version()).value_or(0);
  if (revision > 0) to.set_resource_version(revision);
  *to.mutable_annotations() = from.annotations();
}

}  // namespace troupe::api::v1beta1
