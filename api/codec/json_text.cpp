#include "api/codec/json_text.hpp"

#include <charconv>
#include <cmath>

#include "api/codec/json_special.hpp"
#include "api/values/utf8.hpp"

namespace troupe::api {
namespace {

void append_escape(std::string& out, char c) {
  constexpr std::string_view hex = "0123456789abcdef";
  out += '\\';
  switch (c) {
    case '"':
    case '\\':
      out += c;
      return;
    case '\n':
      out += 'n';
      return;
    case '\r':
      out += 'r';
      return;
    case '\t':
      out += 't';
      return;
    case '\b':
      out += 'b';
      return;
    case '\f':
      out += 'f';
      return;
  }
  out += "u00";
  out += hex[static_cast<std::uint8_t>(c) >> 4];
  out += hex[c & 15];
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  const char* at = text.data();
  const char* end = at + text.size();
  const char* plain = at;  // start of characters that need no escaping
  while ((at = find_special(at, end)) != end) {
    const bool ascii = static_cast<std::uint8_t>(*at) < 0x80;
    const std::size_t size = ascii ? 0 : utf8_character(at, end);
    if (size != 0) {
      at += size;
      continue;
    }
    out.append(plain, at);
    if (ascii)
      append_escape(out, *at);
    else
      out += replacement_character;
    plain = ++at;
  }
  out.append(plain, end);
  out += '"';
}

void append_number(std::string& out, std::int64_t value) {
  char digits[24];
  const auto done = std::to_chars(digits, digits + sizeof digits, value);
  out.append(digits, done.ptr);
}

void append_number(std::string& out, double value) {
  if (!std::isfinite(value)) {
    out += "null";
    return;
  }
  char digits[40];
  const auto done = std::to_chars(digits, digits + sizeof digits, value);
  out.append(digits, done.ptr);
}

std::string quoted(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

}  // namespace troupe::api
