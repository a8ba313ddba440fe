#include "api/codec/json_value.hpp"

#include <bit>
#include <charconv>

#include "api/codec/json_text.hpp"
#include "api/values/base64.hpp"
#include "api/values/duration.hpp"
#include "api/values/quantity.hpp"
#include "api/values/timestamp.hpp"
#include "api/values/utf8.hpp"

namespace troupe::api {
namespace {

using problem = std::optional<std::string>;

problem refused(const json_scalar& given, shape type) {
  std::string description(name_of(given.kind));
  // As Go: the message shows a number of the wrong range or form, but not an unexpected number.
  const bool wants_number = type == shape::int32 || type == shape::int64 || type == shape::number;
  if (given.kind == scalar_kind::number && wants_number) description.append(" ").append(given.text);
  return mismatch(description, name_of(type));
}

// As Go parses integers: 1.0 and 1e3 are not integers.
template <class Integer>
std::optional<Integer> to_integer(const json_scalar& given) {
  Integer value = 0;
  if (given.kind != scalar_kind::number) return std::nullopt;
  const char* end = given.text.data() + given.text.size();
  const auto done = std::from_chars(given.text.data(), end, value);
  if (done.ec != std::errc() || done.ptr != end) return std::nullopt;
  return value;
}

template <class Integer>
problem write_integer(wire::writer& out, shape type, std::uint32_t number, const json_scalar& given,
                      zero zeros) {
  const auto value = to_integer<Integer>(given);
  if (!value) return refused(given, type);
  if (*value != 0 || zeros != zero::absent)
    out.varint(number, static_cast<std::uint64_t>(static_cast<std::int64_t>(*value)));
  return std::nullopt;
}

problem write_double(wire::writer& out, std::uint32_t number, const json_scalar& given,
                     zero zeros) {
  double value = 0;
  const char* end = given.text.data() + given.text.size();
  if (given.kind != scalar_kind::number ||
      std::from_chars(given.text.data(), end, value).ec != std::errc())
    return refused(given, shape::number);
  if (value != 0 || zeros != zero::absent) out.fixed64(number, std::bit_cast<std::uint64_t>(value));
  return std::nullopt;
}

void write_string(wire::writer& out, std::uint32_t number, std::string_view text, zero zeros) {
  if (text.empty() && zeros == zero::absent) return;
  if (is_utf8(text)) {
    out.bytes(number, text);
    return;
  }
  std::string mended;
  append_utf8(mended, text);
  out.bytes(number, mended);
}

problem write_bytes(wire::writer& out, std::uint32_t number, const json_scalar& given, zero zeros) {
  if (given.kind != scalar_kind::string) return refused(given, shape::bytes);
  std::string bytes;
  if (const auto wrong = append_from_base64(bytes, given.text))
    return "illegal base64 data at input byte " + std::to_string(wrong->offset) + " in %s";
  if (!bytes.empty() || zeros != zero::absent) out.bytes(number, bytes);
  return std::nullopt;
}

problem write_time(wire::writer& out, shape type, std::uint32_t number, const json_scalar& given,
                   zero zeros) {
  if (given.kind != scalar_kind::string) return refused(given, type);
  const auto at = parse_time(given.text);
  if (!at)
    return "%s must be an RFC 3339 time such as \"2006-01-02T15:04:05Z\", got " +
           quoted(given.text.substr(0, utf8_prefix(given.text, 64)));
  out.begin(number);
  out.varint(form_field::time_seconds, static_cast<std::uint64_t>(at->seconds));
  const int nanos = type == shape::micro_time ? at->nanos / 1000 * 1000 : 0;
  if (nanos != 0 || zeros == zero::overriding) out.varint(form_field::time_nanos, nanos);
  out.end();
  return std::nullopt;
}

problem write_duration(wire::writer& out, std::uint32_t number, const json_scalar& given,
                       zero zeros) {
  if (given.kind != scalar_kind::string) return refused(given, shape::duration);
  const auto length = parse_duration(given.text);
  if (!length)
    return "%s must be a length of time such as \"1m30.5s\", got " +
           quoted(given.text.substr(0, utf8_prefix(given.text, 64)));
  out.begin(number);
  if (*length != 0 || zeros == zero::overriding)
    out.varint(form_field::duration_nanos, static_cast<std::uint64_t>(*length));
  if (zeros == zero::absent)
    out.end_unless_empty();
  else
    out.end();
  return std::nullopt;
}

problem write_quantity(wire::writer& out, std::uint32_t number, const json_scalar& given,
                       zero zeros) {
  if (given.kind != scalar_kind::string && given.kind != scalar_kind::number)
    return refused(given, shape::quantity);
  const auto amount = quantity::parse(given.text);
  if (!amount) return "%s: " + std::string(quantity_syntax);
  if (amount->is_zero() && zeros == zero::absent) return std::nullopt;
  out.begin(number);
  out.bytes(form_field::quantity_string, amount->str());
  out.end();
  return std::nullopt;
}

problem write_choice(wire::writer& out, std::uint32_t number, const json_scalar& given,
                     zero zeros) {
  const bool is_string = given.kind == scalar_kind::string;
  const auto value = to_integer<std::int32_t>(given);
  if (!is_string && !value) return refused(given, shape::int_or_string);
  out.begin(number);
  if (is_string || zeros == zero::overriding) out.varint(form_field::choice_type, is_string);
  if (value.value_or(0) != 0) out.varint(form_field::choice_int, static_cast<std::int64_t>(*value));
  if (is_string) write_string(out, form_field::choice_string, given.text, zero::absent);
  if (zeros == zero::absent)
    out.end_unless_empty();
  else
    out.end();
  return std::nullopt;
}

void write_raw(wire::writer& out, std::uint32_t number, const json_scalar& given) {
  std::string text;
  if (given.kind == scalar_kind::string)
    append_json_string(text, given.text);
  else
    text = given.text;
  out.begin(number);
  out.bytes(form_field::raw, text);
  out.end();
}

}  // namespace

std::string_view name_of(scalar_kind kind) {
  switch (kind) {
    case scalar_kind::null:
      return "null";
    case scalar_kind::boolean:
      return "bool";
    case scalar_kind::number:
      return "number";
    case scalar_kind::string:
      return "string";
  }
  return "";
}

std::string_view name_of(shape type) {
  switch (type) {
    case shape::boolean:
      return "bool";
    case shape::int32:
      return "int32";
    case shape::int64:
      return "int64";
    case shape::number:
      return "float64";
    case shape::string:
      return "string";
    case shape::bytes:
      return "[]uint8";
    case shape::message:
      return "object";
    case shape::time:
      return "Time";
    case shape::micro_time:
      return "MicroTime";
    case shape::duration:
      return "Duration";
    case shape::quantity:
      return "Quantity";
    case shape::int_or_string:
      return "IntOrString";
    case shape::raw_json:
      return "RawExtension";
    case shape::strings:
      return "[]string";
  }
  return "";
}

std::string mismatch(std::string_view given, std::string_view wanted) {
  return "cannot unmarshal " + std::string(given) + " into %s of type " + std::string(wanted);
}

std::optional<std::string> write_scalar(wire::writer& out, shape type, std::uint32_t number,
                                        const json_scalar& given, zero zeros) {
  switch (type) {
    case shape::boolean:
      if (given.kind != scalar_kind::boolean) return refused(given, type);
      if (given.text == "true" || zeros != zero::absent) out.varint(number, given.text == "true");
      return std::nullopt;
    case shape::int32:
      return write_integer<std::int32_t>(out, type, number, given, zeros);
    case shape::int64:
      return write_integer<std::int64_t>(out, type, number, given, zeros);
    case shape::number:
      return write_double(out, number, given, zeros);
    case shape::string:
      if (given.kind != scalar_kind::string) return refused(given, type);
      write_string(out, number, given.text, zeros);
      return std::nullopt;
    case shape::bytes:
      return write_bytes(out, number, given, zeros);
    case shape::time:
    case shape::micro_time:
      return write_time(out, type, number, given, zeros);
    case shape::duration:
      return write_duration(out, number, given, zeros);
    case shape::quantity:
      return write_quantity(out, number, given, zeros);
    case shape::int_or_string:
      return write_choice(out, number, given, zeros);
    case shape::raw_json:
      write_raw(out, number, given);
      return std::nullopt;
    case shape::message:
    case shape::strings:
      return refused(given, type);
  }
  return std::nullopt;
}

void write_zero(wire::writer& out, shape type, std::uint32_t number) {
  switch (type) {
    case shape::boolean:
    case shape::int32:
    case shape::int64:
      return out.varint(number, 0);
    case shape::number:
      return out.fixed64(number, 0);
    case shape::string:
    case shape::bytes:
      return out.bytes(number, {});
    case shape::quantity:
      write_quantity(out, number, {scalar_kind::number, "0"}, zero::kept);
      return;
    case shape::raw_json:
      return write_raw(out, number, {scalar_kind::null, "null"});
    default:
      out.begin(number);
      out.end();
  }
}

}  // namespace troupe::api
