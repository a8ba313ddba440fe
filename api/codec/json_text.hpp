// Pieces of JSON text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace troupe::api {

// In quotes, with what JSON demands escaped, and the replacement character for bytes that are not
// UTF-8. <, > and & stay as they are.
void append_json_string(std::string& out, std::string_view text);

void append_number(std::string& out, std::int64_t value);
// The shortest digits that read back as the same number; null for infinities and NaN.
void append_number(std::string& out, double value);

// In quotes as Go's %q writes it, for messages.
std::string quoted(std::string_view text);

}  // namespace troupe::api
