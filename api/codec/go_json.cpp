#include "api/codec/go_json.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "api/values/ascii.hpp"

namespace troupe::api {

namespace {

// Go writes numbers outside of this range with an exponent.
constexpr double least_plain = 1e-6, first_with_exponent = 1e21;

// U+2028 and U+2029 end lines in JavaScript.
constexpr std::string_view line_separator = "\xE2\x80\xA8", paragraph_separator = "\xE2\x80\xA9";

// `text` starts with a backslash. Returns the length of the escape.
std::size_t append_escape(std::string& out, std::string_view text) {
  const char kind = text.size() > 1 ? text[1] : '\\';
  if (kind == 'u') {
    const auto code = text.substr(0, 6);
    out += to_lower(code);
    return code.size();
  }
  if (kind == 'b' || kind == 'f')
    out += kind == 'b' ? "\\u0008" : "\\u000c";
  else
    out += text.substr(0, 2);
  return std::min<std::size_t>(text.size(), 2);
}

// The length in bytes of the character that was written.
std::size_t append_character(std::string& out, std::string_view text) {
  switch (text.front()) {
    case '\\':
      return append_escape(out, text);
    case '<':
      out += "\\u003c";
      return 1;
    case '>':
      out += "\\u003e";
      return 1;
    case '&':
      out += "\\u0026";
      return 1;
  }
  for (const auto separator : {line_separator, paragraph_separator}) {
    if (!text.starts_with(separator)) continue;
    out += separator == line_separator ? "\\u2028" : "\\u2029";
    return separator.size();
  }
  out += text.front();
  return 1;
}

// `json` starts with a quote. Returns the length of the string.
std::size_t append_go_string(std::string& out, std::string_view json) {
  out += '"';
  std::size_t at = 1;
  while (at < json.size() && json[at] != '"')
    at += append_character(out, json.substr(at));
  if (at == json.size()) return at;
  out += '"';
  return at + 1;
}

bool is_in_number(char c) {
  return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

// Returns the length of the number.
std::size_t append_go_number(std::string& out, std::string_view json) {
  std::size_t size = 1;
  while (size < json.size() && is_in_number(json[size]))
    ++size;
  const auto number = json.substr(0, size);
  double value = 0;
  const auto read = std::from_chars(number.data(), number.data() + size, value);
  const bool has_exponent = number.find_first_of("eE") != number.npos;
  if (!has_exponent || read.ec != std::errc() || read.ptr != number.data() + size) {
    out += number;
    return size;
  }
  const auto magnitude = std::abs(value);
  const bool plain = value == 0 || (magnitude >= least_plain && magnitude < first_with_exponent);
  char digits[64];
  const auto done = std::to_chars(digits, digits + sizeof digits, value,
                                  plain ? std::chars_format::fixed : std::chars_format::scientific);
  std::string text(digits, done.ptr);
  if (const auto zero = text.find("e-0"); zero != text.npos) text.erase(zero + 2, 1);
  out += text;
  return size;
}

}  // namespace

std::string as_go_writes(std::string_view json) {
  std::string out;
  out.reserve(json.size() + 1);
  while (!json.empty()) {
    const char c = json.front();
    std::size_t size = 1;
    if (c == '"')
      size = append_go_string(out, json);
    else if (c == '-' || (c >= '0' && c <= '9'))
      size = append_go_number(out, json);
    else
      out += c;
    json.remove_prefix(size);
  }
  return out;
}

}  // namespace troupe::api
