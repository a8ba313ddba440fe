// UTF-8, as far as the codecs need it: which bytes are a character.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace troupe::api {

// Stands in place of bytes that are no character, as Go's JSON decoder does it.
inline constexpr std::string_view replacement_character = "\xEF\xBF\xBD";

// Length of the character that begins at `at` (1 to 4 bytes), or 0 where none does: overlong forms,
// surrogates and values above U+10FFFF are no characters. `at` is before `end`.
std::size_t utf8_character(const char* at, const char* end) noexcept;

bool is_utf8(std::string_view text) noexcept;

// How many bytes of `text` to keep, at most `limit`, so that no character is cut in two.
std::size_t utf8_prefix(std::string_view text, std::size_t limit) noexcept;

// `text` with the replacement character for each byte that belongs to no character.
void append_utf8(std::string& out, std::string_view text);

}  // namespace troupe::api
