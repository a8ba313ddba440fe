// Base64 for URLs, without padding (RFC 4648 section 5), as in JSON Web Tokens. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace troupe::server {

std::string base64url(std::string_view bytes);
// Nullopt for invalid text, and for a non-canonical encoding.
std::optional<std::string> from_base64url(std::string_view text);

}  // namespace troupe::server
