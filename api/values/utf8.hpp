// UTF-8 functions for the codecs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace troupe::api {

// Replaces bytes that are not a character, as Go's JSON decoder does.
inline constexpr std::string_view replacement_character = "\xEF\xBF\xBD";

// Length of the character that begins at `at` (1 to 4 bytes), or 0 if none does: overlong forms,
// surrogates and values above U+10FFFF are not characters. `at` is before `end`.
std::size_t utf8_character(const char* at, const char* end) noexcept;

bool is_utf8(std::string_view text) noexcept;

// The number of bytes of `text` to keep, at most `limit`, without cutting a character.
std::size_t utf8_prefix(std::string_view text, std::size_t limit) noexcept;

// Appends `text` with the replacement character for each byte that belongs to no character.
void append_utf8(std::string& out, std::string_view text);

}  // namespace troupe::api
