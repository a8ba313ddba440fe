#include "support/random_message.hpp"

#include <google/protobuf/message.h>

#include <algorithm>
#include <limits>

#include "api/codec/type_plan.hpp"
#include "api/invariant.hpp"
#include "api/object/object.hpp"
#include "api/schema/meta_object.pb.h"
#include "api/type_info.hpp"
#include "api/values/timestamp.hpp"
#include "support/random_text.hpp"

namespace troupe::api {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Reflection;

class filler {
 public:
  filler(random_source& random, const random_options& options)
      : random_(random), options_(options), text_(random, options.text_size_max) {}

  void message(body& into);

 private:
  bool hostile() const { return options_.style == random_options::mode::hostile; }
  bool chance(double probability) { return std::bernoulli_distribution(probability)(random_); }
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }

  void object(body& into, const type_info& type);
  void field(body& into, const field_info& info);
  void one(body& into, const field_info& info);
  void list(body& into, const field_info& info);
  void map(body& into, const field_info& info);

  void time(body& into, bool micro);
  void choice(body& into);

  std::int64_t integer(const field_info& info, std::int64_t low, std::int64_t high);
  std::string text(const field_info& info);
  void set_text(body& into, std::uint32_t number, const std::string& value);
  void set_integer(body& into, std::uint32_t number, std::int64_t value);

  random_source& random_;
  const random_options& options_;
  random_text text_;
};

void filler::message(body& into) {
  if (options_.own && options_.own(into, random_)) return;
  const type_info& type = type_info::of(*into.GetDescriptor());
  switch (type.form()) {
    case OBJECT:
      return object(into, type);
    case TIME:
    case MICRO_TIME:
      return time(into, type.form() == MICRO_TIME);
    case QUANTITY:
      return set_text(into, form_field::quantity_string, text_.amount());
    case INT_OR_STRING:
      return choice(into);
    case RAW_JSON:
      return set_text(into, form_field::raw, text_.json());
    case STRINGS:
      return list(into, type.fields().front());
  }
}

void filler::object(body& into, const type_info& type) {
  const bool is_union = type.union_of_fields() != ANY && !hostile();
  const std::size_t chosen = is_union ? static_cast<std::size_t>(between(
                                            0, static_cast<std::int64_t>(type.fields().size()) - 1))
                                      : 0;
  for (std::size_t i = 0; i < type.fields().size(); ++i) {
    const field_info& info = type.fields()[i];
    const bool wanted =
        is_union ? i == chosen
                 : info.rule->required() || info.rule->inline_() || chance(options_.presence);
    if (wanted) field(into, info);
  }
}

void filler::field(body& into, const field_info& info) {
  if (info.field->is_map()) return map(into, info);
  if (info.field->is_repeated()) return list(into, info);
  one(into, info);
}

void filler::one(body& into, const field_info& info) {
  const Reflection& access = *into.GetReflection();
  const FieldDescriptor* field = info.field;
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_BOOL:
      return access.SetBool(&into, field, !info.rule->presence() || chance(0.5));
    case FieldDescriptor::CPPTYPE_INT32:
      return access.SetInt32(
          &into, field,
          static_cast<std::int32_t>(integer(info, std::numeric_limits<std::int32_t>::min(),
                                            std::numeric_limits<std::int32_t>::max())));
    case FieldDescriptor::CPPTYPE_INT64:
      return access.SetInt64(&into, field,
                             integer(info, std::numeric_limits<std::int64_t>::min(),
                                     std::numeric_limits<std::int64_t>::max()));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return access.SetDouble(&into, field, 0.5 + static_cast<double>(between(0, 1000)));
    case FieldDescriptor::CPPTYPE_STRING:
      return access.SetString(&into, field, text(info));
    case FieldDescriptor::CPPTYPE_MESSAGE: {
      message(*access.MutableMessage(&into, field));
      // An inlined message is visible in JSON only by its members, and one that is always written
      // means nothing when it is empty.
      const bool empty = access.GetMessage(into, field).ByteSizeLong() == 0;
      if (empty && (info.rule->inline_() || info.rule->always())) access.ClearField(&into, field);
      return;
    }
    default:
      ensure(false, "the schema uses only the types that Kubernetes uses");
  }
}

void filler::list(body& into, const field_info& info) {
  const Reflection& access = *into.GetReflection();
  const FieldDescriptor* field = info.field;
  for (auto left = between(1, options_.list_size_max); left > 0; --left) {
    switch (field->cpp_type()) {
      case FieldDescriptor::CPPTYPE_STRING:
        access.AddString(&into, field, text(info));
        break;
      case FieldDescriptor::CPPTYPE_INT32:
        access.AddInt32(&into, field, static_cast<std::int32_t>(between(0, 65535)));
        break;
      case FieldDescriptor::CPPTYPE_INT64:
        access.AddInt64(&into, field, between(0, 1 << 30));
        break;
      case FieldDescriptor::CPPTYPE_MESSAGE:
        message(*access.AddMessage(&into, field));
        break;
      default:
        ensure(false, "lists of the schema hold texts, numbers or messages");
    }
  }
}

void filler::map(body& into, const field_info& info) {
  const Reflection& access = *into.GetReflection();
  const FieldDescriptor* key = info.field->message_type()->map_key();
  const FieldDescriptor* value = info.field->message_type()->map_value();
  const auto size = between(1, options_.list_size_max);
  for (std::int64_t i = 0; i < size; ++i) {
    body& entry = *access.AddMessage(&into, info.field);
    const Reflection& inner = *entry.GetReflection();
    // The number makes keys unique.
    inner.SetString(&entry, key, (hostile() ? text_.any() : text_.label()) + std::to_string(i));
    if (value->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE)
      message(*inner.MutableMessage(&entry, value));
    else
      inner.SetString(&entry, value, hostile() ? text_.any() : text_.label());
  }
}

void filler::time(body& into, bool micro) {
  set_integer(into, form_field::time_seconds,
              hostile() ? between(first_second, last_second) : between(0, 2'000'000'000));
  if (micro && chance(0.9)) set_integer(into, form_field::time_nanos, between(1, 999'999) * 1000);
}

void filler::choice(body& into) {
  if (chance(0.5)) {
    const auto low = hostile() ? std::numeric_limits<std::int32_t>::min() : 1;
    const auto high = hostile() ? std::numeric_limits<std::int32_t>::max() : 65535;
    const auto value = between(low, high);
    if (value != 0) set_integer(into, form_field::choice_int, value);
    return;
  }
  set_integer(into, form_field::choice_type, 1);
  set_text(into, form_field::choice_string, std::to_string(between(1, 100)) + "%");
}

// Never zero: in most fields zero would mean absent.
std::int64_t filler::integer(const field_info& info, std::int64_t low, std::int64_t high) {
  if (hostile()) {
    const std::int64_t value = chance(0.5) ? between(low, high) : chance(0.5) ? low : high;
    return value == 0 ? 1 : value;
  }
  low = info.rule->has_minimum() ? std::max<std::int64_t>(info.rule->minimum(), 1) : 1;
  high = info.rule->has_maximum() ? info.rule->maximum() : 1 << 20;
  return between(low, std::max(low, high));
}

std::string filler::text(const field_info& info) {
  if (info.field->type() == FieldDescriptor::TYPE_BYTES) return text_.bytes();
  if (hostile()) return text_.any() + "x";  // not empty: that would mean absent
  const auto& allowed = info.rule->allowed();
  if (!allowed.empty()) {
    const std::string& one = allowed[static_cast<int>(between(0, allowed.size() - 1))];
    return one.empty() ? "other" : one;
  }
  return text_.of(info.rule->syntax());
}

void filler::set_text(body& into, std::uint32_t number, const std::string& value) {
  const auto* field = into.GetDescriptor()->FindFieldByNumber(static_cast<int>(number));
  into.GetReflection()->SetString(&into, field, value);
}

void filler::set_integer(body& into, std::uint32_t number, std::int64_t value) {
  const auto* field = into.GetDescriptor()->FindFieldByNumber(static_cast<int>(number));
  const Reflection& access = *into.GetReflection();
  if (field->cpp_type() == FieldDescriptor::CPPTYPE_INT32)
    access.SetInt32(&into, field, static_cast<std::int32_t>(value));
  else
    access.SetInt64(&into, field, value);
}

}  // namespace

void fill_random(body& into, random_source& random, const random_options& options) {
  filler(random, options).message(into);
}

std::unique_ptr<body> random_object(const kind_info& kind, std::uint64_t seed,
                                    const random_options& options) {
  random_source random(seed);
  auto made = kind.make();
  fill_random(*made, random, options);
  meta::v1::ObjectMeta& meta = meta_of(*made);
  random_text text(random, options.text_size_max);
  meta.set_name(text.of(DNS_SUBDOMAIN));
  if (kind.namespaced())
    meta.set_namespace_(text.of(DNS_LABEL));
  else
    meta.clear_namespace_();
  return made;
}

}  // namespace troupe::api
