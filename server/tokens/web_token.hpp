// JSON Web Tokens of service accounts: parsing and signing. Pure. Parsing accepts any
// bytes.
//
// kubernetes: pkg/serviceaccount/claims.go and legacy.go.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "actors/tokens/account_token.hpp"
#include "server/credentials/es256.hpp"

namespace troupe::server {

// The issuer of legacy tokens, which are stored in Secrets.
inline constexpr std::string_view legacy_issuer = "kubernetes/serviceaccount";

// The size of the longest accepted token.
inline constexpr std::size_t token_limit_bytes = 16 << 10;

// The parts of a token, with views of its text; the signature is decoded but not verified.
struct token_parts {
  std::string_view signed_text;  // header and claims
  std::string claims;            // JSON
  std::string key_id;
  std::string signature;
};

// Nullopt if it is not a token of this form with algorithm ES256.
std::optional<token_parts> split_token(std::string_view token);

struct read_claims {
  std::string issuer;
  actors::token_claims claims;
};

// Nullopt if claims of a service account's token are invalid; unknown claims are ignored.
std::optional<read_claims> parse_claims(const std::string& json);

// The claims as JSON.
std::string print_claims(const actors::token_claims& claims, std::string_view issuer);

tl::expected<std::string, std::string> sign_token(const actors::token_claims& claims,
                                                  std::string_view issuer, const es256::key& key);

}  // namespace troupe::server
