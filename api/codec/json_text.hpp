// Appends pieces of JSON text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace troupe::api {

// Quotes and escapes the text as JSON requires; bytes that are not UTF-8 become the replacement
// character. <, > and & are not escaped.
void append_json_string(std::string& out, std::string_view text);

void append_number(std::string& out, std::int64_t value);
// The shortest digits that parse to the same number; null for infinities and NaN.
void append_number(std::string& out, double value);

// Quoted as by Go's %q, for messages.
std::string quoted(std::string_view text);

}  // namespace troupe::api
