// Base64 with padding (RFC 4648 section 4): how JSON carries bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace troupe::api {

void append_base64(std::string& out, std::string_view bytes);

// Line breaks are skipped, as Go does. The error is the place of the first bad character.
struct base64_error {
  std::size_t offset = 0;
};
std::optional<base64_error> append_from_base64(std::string& out, std::string_view text);

}  // namespace troupe::api
