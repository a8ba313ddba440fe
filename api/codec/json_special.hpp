// Finds the characters of JSON strings that need attention.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace troupe::api {

// The first character from `at` that a JSON string must escape (quote, backslash, control
// character) or that is not ASCII; `end` if there is none. Reads eight characters at a time.
inline const char* find_special(const char* at, const char* end) noexcept {
  static_assert(std::endian::native == std::endian::little);
  constexpr std::uint64_t ones = 0x0101'0101'0101'0101, high_bits = 0x80 * ones;
  for (; end - at >= 8; at += 8) {
    std::uint64_t word;
    std::memcpy(&word, at, 8);
    const auto quote = word ^ ('"' * ones), backslash = word ^ ('\\' * ones);
    // A subtraction sets the high bit of a byte that is too small. Its borrow may set those of the
    // bytes after it, never of those before.
    const auto found =
        (word | (word - 0x20 * ones) | (quote - ones) | (backslash - ones)) & high_bits;
    if (found != 0) return at + std::countr_zero(found) / 8;
  }
  for (; at != end; ++at) {
    const auto c = static_cast<std::uint8_t>(*at);
    if (c < 0x20 || c >= 0x80 || c == '"' || c == '\\') break;
  }
  return at;
}

}  // namespace troupe::api
