#include "api/codec/yaml_scalar.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>

#include "api/codec/json_text.hpp"

namespace troupe::api {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_one_of(std::string_view text, const auto& words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

constexpr std::array<std::string_view, 5> nulls = {"", "~", "null", "Null", "NULL"};
constexpr std::array<std::string_view, 3> trues = {"true", "True", "TRUE"};
constexpr std::array<std::string_view, 3> falses = {"false", "False", "FALSE"};
// Numbers in YAML but not in JSON; and booleans of YAML 1.1, for stricter readers.
constexpr std::array<std::string_view, 22> ambiguous = {
    "y",  "Y",  "n",   "N",   "yes", "Yes",  "YES",  "no",   "No",   "NO",   "on",
    "On", "ON", "off", "Off", "OFF", ".inf", ".Inf", ".INF", ".nan", ".NaN", ".NAN"};

// The digits without sign, prefix and underscores, and their base.
struct whole_number {
  std::string digits;
  int base = 10;
  bool negative = false;
};

whole_number split(std::string_view text) {
  whole_number out;
  out.negative = text.starts_with('-');
  if (out.negative || text.starts_with('+')) text.remove_prefix(1);
  if (text.starts_with("0x") || text.starts_with("0X")) out.base = 16;
  if (text.starts_with("0o")) out.base = 8;
  if (text.starts_with("0b")) out.base = 2;
  if (out.base != 10) {
    text.remove_prefix(2);
  } else if (text.size() > 1 && text.front() == '0') {
    out.base = 8;
    text.remove_prefix(1);
  }
  std::copy_if(text.begin(), text.end(), std::back_inserter(out.digits),
               [](char c) { return c != '_'; });
  return out;
}

std::optional<std::string> as_integer(std::string_view text) {
  const whole_number number = split(text);
  std::uint64_t value = 0;
  const char* end = number.digits.data() + number.digits.size();
  const auto done = std::from_chars(number.digits.data(), end, value, number.base);
  if (done.ec != std::errc() || done.ptr != end) return std::nullopt;
  return (number.negative && value != 0 ? "-" : "") + std::to_string(value);
}

// A decimal point or an exponent among digits; "1.2.3", "1e" and "." are not numbers.
std::optional<std::string> as_float(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text.empty() || !(is_digit(text.front()) || text.front() == '.')) return std::nullopt;
  double value = 0;
  const char* end = text.data() + text.size();
  const auto done = std::from_chars(text.data(), end, value, std::chars_format::general);
  if (done.ec != std::errc() || done.ptr != end || !std::isfinite(value)) return std::nullopt;
  std::string out = negative ? "-" : "";
  append_number(out, value);
  return out;
}

bool starts_like_number(std::string_view text) {
  return is_digit(text.front()) || text.front() == '-' || text.front() == '+' ||
         text.front() == '.';
}

// Characters with a meaning in YAML at the start of a plain scalar.
bool is_indicator(char c) {
  return std::string_view("-?:,[]{}#&*!|>'\"%@`").find(c) != std::string_view::npos;
}

bool is_safe_plain(std::string_view text) {
  if (text.empty() || is_one_of(text, nulls) || is_one_of(text, trues) || is_one_of(text, falses) ||
      is_one_of(text, ambiguous))
    return false;
  if (is_indicator(text.front()) || text.front() == ' ' || text.back() == ' ' ||
      text.back() == ':' || text.front() == '=' || text == "<<")
    return false;
  // Numbers, and texts that look like dates or times.
  if (starts_like_number(text) &&
      text.find_first_not_of("0123456789+-.:_eExXobTZabcdfABCDF ") == std::string_view::npos)
    return false;
  if (text.find(": ") != std::string_view::npos || text.find(" #") != std::string_view::npos)
    return false;
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
}

}  // namespace

std::string plain_scalar_to_json(std::string_view text) {
  if (is_one_of(text, nulls)) return "null";
  if (is_one_of(text, trues)) return "true";
  if (is_one_of(text, falses)) return "false";
  if (starts_like_number(text)) {
    if (auto number = as_integer(text)) return *number;
    if (auto number = as_float(text)) return *number;
  }
  std::string out;
  append_json_string(out, text);
  return out;
}

void append_yaml_string(std::string& out, std::string_view text) {
  if (is_safe_plain(text))
    out += text;
  else
    append_json_string(out, text);  // YAML's double quotes are compatible
}

}  // namespace troupe::api
