#include "api/values/utf8.hpp"

#include <cstring>

namespace troupe::api {
namespace {

bool is_continuation(const char* at) noexcept {
  return (static_cast<std::uint8_t>(*at) & 0xC0) == 0x80;
}

// The first byte from `at` that is not ASCII.
const char* skip_ascii(const char* at, const char* end) noexcept {
  for (; end - at >= 8; at += 8) {
    std::uint64_t word;
    std::memcpy(&word, at, 8);
    if ((word & 0x8080808080808080u) != 0) break;
  }
  while (at != end && static_cast<std::uint8_t>(*at) < 0x80)
    ++at;
  return at;
}

}  // namespace

std::size_t utf8_character(const char* at, const char* end) noexcept {
  const auto first = static_cast<std::uint8_t>(*at);
  const std::ptrdiff_t left = end - at;
  if (first < 0x80) return 1;
  if (first < 0xC2 || first > 0xF4) return 0;
  if (left < 2 || !is_continuation(at + 1)) return 0;
  if (first < 0xE0) return 2;
  const auto second = static_cast<std::uint8_t>(at[1]);
  if (left < 3 || !is_continuation(at + 2)) return 0;
  if (first < 0xF0) {
    const bool overlong = first == 0xE0 && second < 0xA0;
    const bool surrogate = first == 0xED && second > 0x9F;
    return overlong || surrogate ? 0 : 3;
  }
  if (left < 4 || !is_continuation(at + 3)) return 0;
  const bool overlong = first == 0xF0 && second < 0x90;
  const bool too_large = first == 0xF4 && second > 0x8F;
  return overlong || too_large ? 0 : 4;
}

std::size_t utf8_prefix(std::string_view text, std::size_t limit) noexcept {
  if (text.size() <= limit) return text.size();
  while (limit > 0 && (static_cast<unsigned char>(text[limit]) & 0xc0) == 0x80)
    --limit;
  return limit;
}

bool is_utf8(std::string_view text) noexcept {
  const char* at = text.data();
  const char* end = at + text.size();
  while ((at = skip_ascii(at, end)) != end) {
    const std::size_t size = utf8_character(at, end);
    if (size == 0) return false;
    at += size;
  }
  return true;
}

void append_utf8(std::string& out, std::string_view text) {
  const char* at = text.data();
  const char* end = at + text.size();
  const char* plain = at;  // start of valid characters
  while ((at = skip_ascii(at, end)) != end) {
    const std::size_t size = utf8_character(at, end);
    if (size != 0) {
      at += size;
      continue;
    }
    out.append(plain, at);
    out += replacement_character;
    plain = ++at;
  }
  out.append(plain, end);
}

}  // namespace troupe::api
