#include "api/codec/json_encode.hpp"

#include <bit>

#include "api/codec/json_text.hpp"
#include "api/codec/wire.hpp"
#include "api/values/base64.hpp"
#include "api/values/duration.hpp"
#include "api/values/timestamp.hpp"

namespace troupe::api {
namespace {

// The depth of recursion is that of the schema, which has no recursive type.
class printer {
 public:
  explicit printer(std::string& out) : out_(out) {}

  void object(const type_plan& type, std::string_view wire, std::string_view api_version = {},
              std::string_view kind = {});
  // `f` has the value, or is empty if it is absent.
  void value(const field_plan& plan, const wire::field& f);

 private:
  void members(const type_plan& type, std::string_view wire);
  bool field(const field_plan& plan, wire::field& f, wire::reader& fields);
  bool list(const field_plan& plan, wire::field& f, wire::reader& fields);
  bool map(const field_plan& plan, wire::field& f, wire::reader& fields);
  void absent(const field_plan& plan);
  bool hidden(const field_plan& plan, const wire::field& f) const;

  void time(std::string_view wire, bool micro);
  void duration(std::string_view wire);
  void int_or_string(std::string_view wire);
  void strings(std::string_view wire);

  void key(const field_plan& plan) {
    comma();
    out_ += plan.key;
  }
  // No comma follows an opening bracket or a colon.
  void comma() {
    if (out_.back() != '{' && out_.back() != '[') out_ += ',';
  }

  std::string& out_;
};

// The bytes of field `number` of a message in which only that field matters.
std::string_view only(std::string_view wire, std::uint32_t number) {
  std::string_view found;
  wire::reader fields(wire);
  for (wire::field f; fields.next(f);)
    if (f.number == number) found = f.bytes;
  return found;
}

void printer::object(const type_plan& type, std::string_view wire, std::string_view api_version,
                     std::string_view kind) {
  out_ += '{';
  if (!kind.empty()) {
    out_ += "\"kind\":";
    append_json_string(out_, kind);
  }
  if (!api_version.empty()) {
    comma();
    out_ += "\"apiVersion\":";
    append_json_string(out_, api_version);
  }
  members(type, wire);
  out_ += '}';
}

void printer::members(const type_plan& type, std::string_view wire) {
  auto due = type.always().begin();
  const auto end = type.always().end();
  wire::reader fields(wire);
  wire::field f;
  for (bool more = fields.next(f); more;) {
    while (due != end && (*due)->number < f.number)
      absent(**due++);
    if (due != end && (*due)->number == f.number) ++due;
    const field_plan* plan = type.find(f.number);
    more = plan == nullptr ? fields.next(f) : field(*plan, f, fields);
  }
  while (due != end)
    absent(**due++);
}

// Writes the current field `f` and moves to the next one.
bool printer::field(const field_plan& plan, wire::field& f, wire::reader& fields) {
  if (plan.many == cardinality::list) return list(plan, f, fields);
  if (plan.many == cardinality::map) return map(plan, f, fields);
  if (plan.inlined) {
    members(*plan.type, f.bytes);
  } else if (!hidden(plan, f)) {
    key(plan);
    value(plan, f);
  }
  return fields.next(f);
}

bool printer::list(const field_plan& plan, wire::field& f, wire::reader& fields) {
  key(plan);
  out_ += '[';
  bool more = true;
  for (bool first = true; more && f.number == plan.number; more = fields.next(f)) {
    if (!first) out_ += ',';
    first = false;
    value(plan, f);
  }
  out_ += ']';
  return more;
}

bool printer::map(const field_plan& plan, wire::field& f, wire::reader& fields) {
  key(plan);
  out_ += '{';
  bool more = true;
  for (bool first = true; more && f.number == plan.number; more = fields.next(f)) {
    std::string_view name;
    wire::field held;
    wire::reader entry(f.bytes);
    for (wire::field e; entry.next(e);) {
      if (e.number == form_field::map_key) name = e.bytes;
      if (e.number == form_field::map_value) held = e;
    }
    if (!first) out_ += ',';
    first = false;
    append_json_string(out_, name);
    out_ += ':';
    value(plan, held);
  }
  out_ += '}';
  return more;
}

void printer::absent(const field_plan& plan) {
  if (plan.inlined) {
    members(*plan.type, {});
    return;
  }
  key(plan);
  if (plan.many == cardinality::list)
    out_ += "[]";
  else if (plan.many == cardinality::map)
    out_ += "{}";
  else if (plan.presence)
    out_ += "null";  // a nil pointer in Go
  else
    value(plan, {});
}

// Whether the field is a zero that means absent.
bool printer::hidden(const field_plan& plan, const wire::field& f) const {
  if (plan.presence || plan.always) return false;
  switch (plan.value) {
    case shape::boolean:
    case shape::int32:
    case shape::int64:
    case shape::number:
      return f.value == 0;
    case shape::string:
    case shape::bytes:
    case shape::time:
    case shape::micro_time:
    case shape::raw_json:
      return f.bytes.empty();
    default:
      return false;
  }
}

void printer::value(const field_plan& plan, const wire::field& f) {
  switch (plan.value) {
    case shape::boolean:
      out_ += f.value != 0 ? "true" : "false";
      return;
    case shape::int32:
    case shape::int64:
      return append_number(out_, static_cast<std::int64_t>(f.value));
    case shape::number:
      return append_number(out_, std::bit_cast<double>(f.value));
    case shape::string:
      return append_json_string(out_, f.bytes);
    case shape::bytes:
      out_ += '"';
      append_base64(out_, f.bytes);
      out_ += '"';
      return;
    case shape::message:
      return object(*plan.type, f.bytes);
    case shape::time:
    case shape::micro_time:
      return time(f.bytes, plan.value == shape::micro_time);
    case shape::duration:
      return duration(f.bytes);
    case shape::quantity: {
      const std::string_view amount = only(f.bytes, form_field::quantity_string);
      return append_json_string(out_, amount.empty() ? "0" : amount);
    }
    case shape::int_or_string:
      return int_or_string(f.bytes);
    case shape::raw_json: {
      const std::string_view raw = only(f.bytes, form_field::raw);
      out_ += raw.empty() ? "null" : raw;
      return;
    }
    case shape::strings:
      return strings(f.bytes);
  }
}

void printer::time(std::string_view wire, bool micro) {
  moment at;
  wire::reader fields(wire);
  for (wire::field f; fields.next(f);) {
    if (f.number == form_field::time_seconds) at.seconds = static_cast<std::int64_t>(f.value);
    if (f.number == form_field::time_nanos) at.nanos = static_cast<std::int32_t>(f.value);
  }
  if (wire.empty()) {
    out_ += "null";
    return;
  }
  out_ += '"';
  if (micro)
    append_micro_time(out_, at);
  else
    append_time(out_, at.seconds);
  out_ += '"';
}

void printer::duration(std::string_view wire) {
  std::int64_t length = 0;
  wire::reader fields(wire);
  for (wire::field f; fields.next(f);)
    if (f.number == form_field::duration_nanos) length = static_cast<std::int64_t>(f.value);
  append_json_string(out_, format_duration(length));
}

void printer::int_or_string(std::string_view wire) {
  bool is_string = false;
  std::int64_t number = 0;
  std::string_view text;
  wire::reader fields(wire);
  for (wire::field f; fields.next(f);) {
    if (f.number == form_field::choice_type) is_string = f.value != 0;
    if (f.number == form_field::choice_int) number = static_cast<std::int64_t>(f.value);
    if (f.number == form_field::choice_string) text = f.bytes;
  }
  if (is_string)
    append_json_string(out_, text);
  else
    append_number(out_, number);
}

void printer::strings(std::string_view wire) {
  out_ += '[';
  wire::reader fields(wire);
  for (wire::field f; fields.next(f);) {
    comma();
    append_json_string(out_, f.bytes);
  }
  out_ += ']';
}

}  // namespace

void append_json(std::string& out, const type_plan& type, std::string_view wire,
                 std::string_view api_version, std::string_view kind) {
  printer print(out);
  if (type.form() == shape::message) return print.object(type, wire, api_version, kind);
  field_plan itself;
  itself.value = type.form();
  itself.type = &type;
  wire::field f;
  f.form = wire::type::bytes;
  f.bytes = wire;
  print.value(itself, f);
}

}  // namespace troupe::api
