// Base64 with padding (RFC 4648 section 4), the encoding of bytes in JSON.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace troupe::api {

void append_base64(std::string& out, std::string_view bytes);

// Skips line breaks, as Go does. The error has the position of the first bad character.
struct base64_error {
  std::size_t offset = 0;
};
std::optional<base64_error> append_from_base64(std::string& out, std::string_view text);

}  // namespace troupe::api
