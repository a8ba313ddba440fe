#include "api/codec/canonical_wire.hpp"

#include <google/protobuf/descriptor.h>

#include "api/codec/decode_budget.hpp"
#include "api/codec/json_decode.hpp"
#include "api/codec/wire_writer.hpp"
#include "api/values/quantity.hpp"
#include "api/values/timestamp.hpp"
#include "api/values/utf8.hpp"

namespace troupe::api {
namespace {

// The depth of recursion is that of the schema, which has no recursive type.
class normalizer {
 public:
  normalizer(std::size_t document_bytes, const decode_options& options)
      : options_(options), budget_(options.memory_limit_bytes), out_(document_bytes) {}

  bool message(const type_plan& type, std::string_view wire);

  std::string take_wire() noexcept { return out_.take(); }
  const std::string& failure() const noexcept { return failure_; }

 private:
  bool field(const field_plan& plan, const wire::field& f);
  bool number(const field_plan& plan, const wire::field& f);
  bool packed(const field_plan& plan, std::string_view values);
  bool text(const field_plan& plan, const wire::field& f);
  bool map_entry(const field_plan& plan, std::string_view wire);
  bool value(const field_plan& plan, std::uint32_t number, std::string_view wire);

  bool time(shape form, std::string_view wire);
  bool amount(std::string_view wire, bool zero_is_absent);
  bool choice(std::string_view wire);
  bool raw(std::string_view wire);
  bool strings(std::string_view wire);

  bool malformed(const field_plan& plan) { return fail(plan, "is malformed"); }
  bool fail(const field_plan& plan, std::string_view problem) {
    failure_ = "proto: field " + plan.name + " " + std::string(problem);
    return false;
  }

  const decode_options& options_;
  decode_budget budget_;
  wire::writer out_;
  std::string failure_;
};

bool is_numeric(shape value) {
  return value <= shape::number;
}
bool is_text(shape value) {
  return value == shape::string || value == shape::bytes;
}

wire::type wire_type_of(shape value) {
  if (value == shape::number) return wire::type::fixed64;
  return is_numeric(value) ? wire::type::varint : wire::type::bytes;
}

// JSON cannot express invalid UTF-8: replaces the bytes as its decoder does. `buffer` owns the
// result.
std::string_view repaired(std::string_view text, std::string& buffer) {
  if (is_utf8(text)) return text;
  append_utf8(buffer, text);
  return buffer;
}

bool normalizer::message(const type_plan& type, std::string_view wire) {
  wire::reader fields(wire);
  for (wire::field f; fields.next(f);) {
    const field_plan* plan = type.find(f.number);
    if (plan != nullptr && !field(*plan, f)) return false;
  }
  if (!fields.ok())
    failure_ = "proto: a message of type " + type.descriptor().name() + " is cut off or malformed";
  return fields.ok();
}

bool normalizer::field(const field_plan& plan, const wire::field& f) {
  const bool is_packed =
      plan.many == cardinality::list && is_numeric(plan.value) && f.form == wire::type::bytes;
  if (is_packed) return packed(plan, f.bytes);
  if (plan.many == cardinality::map)
    return f.form == wire::type::bytes ? map_entry(plan, f.bytes) : malformed(plan);
  if (f.form != wire_type_of(plan.value)) return malformed(plan);
  if (is_numeric(plan.value)) return number(plan, f);
  if (is_text(plan.value)) return text(plan, f);
  return value(plan, plan.number, f.bytes);
}

bool normalizer::number(const field_plan& plan, const wire::field& f) {
  const bool keep_zero = plan.presence || plan.many == cardinality::list;
  if (f.value == 0 && !keep_zero) return true;
  if (!budget_.take(sizeof(f.value))) return fail(plan, "describes too much");
  out_.raw(f.bytes_with_tag);
  return true;
}

bool normalizer::packed(const field_plan& plan, std::string_view values) {
  // Handles packed values one by one, as if each had a tag.
  while (!values.empty()) {
    std::string tagged;
    wire::append_varint(tagged, wire::tag(plan.number, wire_type_of(plan.value)));
    const std::size_t tag_size = tagged.size();
    tagged += values.substr(0, 10);
    wire::field f;
    wire::reader reader(tagged);
    if (!reader.next(f)) return malformed(plan);
    if (!number(plan, f)) return false;
    values.remove_prefix(f.bytes_with_tag.size() - tag_size);
  }
  return true;
}

bool normalizer::text(const field_plan& plan, const wire::field& f) {
  const bool keep_empty = plan.presence || plan.many == cardinality::list;
  if (f.bytes.empty() && !keep_empty) return true;
  std::string buffer;
  const auto given = plan.value == shape::string ? repaired(f.bytes, buffer) : f.bytes;
  if (!budget_.take_string(given.size())) return fail(plan, "describes too much");
  out_.bytes(plan.number, given);
  return true;
}

bool normalizer::map_entry(const field_plan& plan, std::string_view wire) {
  std::string_view key;
  wire::field held;
  bool has_value = false;
  wire::reader fields(wire);
  for (wire::field f; fields.next(f);) {
    if (f.number > form_field::map_value) continue;
    if (f.form != wire::type::bytes) return malformed(plan);
    if (f.number == form_field::map_key) key = f.bytes;
    if (f.number == form_field::map_value) held = f, has_value = true;
  }
  if (!fields.ok()) return malformed(plan);
  std::string kept_key, kept_value;
  key = repaired(key, kept_key);
  if (plan.value == shape::string) held.bytes = repaired(held.bytes, kept_value);
  if (!budget_.take_string(key.size()) || !budget_.take_string(held.bytes.size()))
    return fail(plan, "describes too much");
  out_.begin(plan.number);
  out_.bytes(form_field::map_key, key);
  if (has_value && is_text(plan.value)) out_.bytes(form_field::map_value, held.bytes);
  // An absent value is the zero of its type.
  if (!is_text(plan.value) && !value(plan, form_field::map_value, held.bytes)) return false;
  out_.end();
  return true;
}

// Handles a message of any form.
bool normalizer::value(const field_plan& plan, std::uint32_t number, std::string_view wire) {
  if (!budget_.take(plan.type->size_bytes())) return fail(plan, "describes too much");
  out_.begin(number);
  const bool is_member = plan.many == cardinality::one;
  bool ok = true;
  bool empty_is_absent = is_member && plan.always;
  switch (plan.value) {
    case shape::time:
    case shape::micro_time:
      ok = time(plan.value, wire);
      empty_is_absent = is_member;
      break;
    case shape::quantity:
      ok = amount(wire, empty_is_absent);
      break;
    case shape::int_or_string:
      ok = choice(wire);
      break;
    case shape::raw_json:
      ok = raw(wire);
      empty_is_absent = is_member;
      break;
    case shape::strings:
      ok = strings(wire);
      empty_is_absent = false;
      break;
    default:
      if (!message(*plan.type, wire)) return false;
      empty_is_absent = empty_is_absent || plan.inlined;
  }
  if (!ok) return malformed(plan);
  if (empty_is_absent)
    out_.end_unless_empty();
  else
    out_.end();
  return true;
}

bool normalizer::time(shape form, std::string_view wire) {
  bool known = false;
  std::int64_t seconds = 0;
  std::int32_t nanos = 0;
  wire::reader fields(wire);
  for (wire::field f; fields.next(f);) {
    if (f.form != wire::type::varint) continue;
    if (f.number == form_field::time_seconds) {
      seconds = static_cast<std::int64_t>(f.value);
      known = true;
    }
    if (f.number == form_field::time_nanos) nanos = static_cast<std::int32_t>(f.value);
  }
  if (!known) return fields.ok();
  const bool in_range =
      seconds >= first_second && seconds <= last_second && nanos >= 0 && nanos < 1'000'000'000;
  out_.varint(form_field::time_seconds, static_cast<std::uint64_t>(seconds));
  const int written_nanos = form == shape::micro_time ? nanos / 1000 * 1000 : 0;
  if (written_nanos != 0) out_.varint(form_field::time_nanos, written_nanos);
  return fields.ok() && in_range;
}

bool normalizer::amount(std::string_view wire, bool zero_is_absent) {
  std::string_view text;
  wire::reader fields(wire);
  for (wire::field f; fields.next(f);)
    if (f.number == form_field::quantity_string && f.form == wire::type::bytes) text = f.bytes;
  if (!fields.ok()) return false;
  const auto parsed = quantity::parse(text.empty() ? "0" : text);
  if (!parsed) return false;
  if (!parsed->is_zero() || !zero_is_absent) out_.bytes(form_field::quantity_string, parsed->str());
  return true;
}

bool normalizer::choice(std::string_view wire) {
  bool is_string = false;
  std::int32_t number = 0;
  std::string_view text;
  wire::reader fields(wire);
  for (wire::field f; fields.next(f);) {
    if (f.number == form_field::choice_type) is_string = f.value != 0;
    if (f.number == form_field::choice_int) number = static_cast<std::int32_t>(f.value);
    if (f.number == form_field::choice_string) text = f.bytes;
  }
  if (is_string) {
    out_.varint(form_field::choice_type, 1);
    std::string buffer;
    if (!text.empty()) out_.bytes(form_field::choice_string, repaired(text, buffer));
  } else if (number != 0) {
    out_.varint(form_field::choice_int, static_cast<std::uint64_t>(std::int64_t{number}));
  }
  return fields.ok();
}

bool normalizer::raw(std::string_view wire) {
  std::string_view text;
  wire::reader fields(wire);
  for (wire::field f; fields.next(f);)
    if (f.number == form_field::raw && f.form == wire::type::bytes) text = f.bytes;
  if (!fields.ok()) return false;
  if (text.empty()) return true;
  const auto value = compact_json(text, options_.depth_limit);
  if (!value) return false;
  if (*value != "null") out_.bytes(form_field::raw, *value);
  return true;
}

bool normalizer::strings(std::string_view wire) {
  wire::reader fields(wire);
  for (wire::field f; fields.next(f);) {
    if (f.number != form_field::items) continue;
    if (f.form != wire::type::bytes) return false;
    std::string buffer;
    const auto given = repaired(f.bytes, buffer);
    if (!budget_.take_string(given.size())) return false;
    out_.bytes(form_field::items, given);
  }
  return fields.ok();
}

}  // namespace

tl::expected<std::string, std::string> canonical_wire(std::string_view wire, const type_plan& type,
                                                      const decode_options& options) {
  normalizer walk(wire.size(), options);
  if (!walk.message(type, wire)) return tl::make_unexpected(walk.failure());
  return walk.take_wire();
}

}  // namespace troupe::api
