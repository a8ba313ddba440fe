// JSON Web Tokens of service accounts: the text of a token, and what it says. Pure. Reading takes
// any bytes.
//
// kubernetes: pkg/serviceaccount/claims.go and legacy.go.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "actors/tokens/account_token.hpp"
#include "server/credentials/es256.hpp"

namespace troupe::server {

// Of legacy tokens, which Secrets hold.
inline constexpr std::string_view legacy_issuer = "kubernetes/serviceaccount";

// Bytes of the longest token that is looked at.
inline constexpr std::size_t token_limit_bytes = 16 << 10;

// A token in its parts, views of its text; the signature is decoded and not yet verified.
struct token_parts {
  std::string_view signed_text;  // header and claims
  std::string claims;            // JSON
  std::string key_id;
  std::string signature;
};

// Nothing where it is no token of this form with algorithm ES256.
std::optional<token_parts> split_token(std::string_view token);

struct read_claims {
  std::string issuer;
  actors::token_claims claims;
};

// Nothing where a service account's token says something else; what is not known is passed over.
std::optional<read_claims> parse_claims(const std::string& json);

// The claims as JSON.
std::string print_claims(const actors::token_claims& claims, std::string_view issuer);

tl::expected<std::string, std::string> sign_token(const actors::token_claims& claims,
                                                  std::string_view issuer, const es256::key& key);

}  // namespace troupe::server
