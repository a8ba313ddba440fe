// Base64 for URLs, without padding (RFC 4648 section 5), as JSON Web Tokens have it. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace troupe::server {

std::string base64url(std::string_view bytes);
// Nothing for text that has another form, also another of the same bytes.
std::optional<std::string> from_base64url(std::string_view text);

}  // namespace troupe::server
