// The issuer that signs tokens of ServiceAccounts, and the messages for a kubelet's token request.
#pragma once

#include <cstdint>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "actors/tokens/account_token.hpp"

namespace troupe::actors {

// Holds the key of the cluster; thread safe, does not block.
class token_issuer {
 public:
  virtual ~token_issuer() = default;
  // The audiences of tokens for the API server; never empty.
  virtual const std::vector<std::string>& api_audiences() const noexcept = 0;
  // Returns the encoded token; the error says why it cannot be signed.
  virtual tl::expected<std::string, std::string> sign(const token_claims& claims) const = 0;
};

// A request to the actor `token-provider`, or to a gateway in its place; answered by
// `token_answer`.
struct request_token {
  token_spec order;
};

struct granted_token {
  std::string token;
  std::int64_t expires = 0;  // seconds since the epoch: replace it before
};

struct token_answer {
  api::expected<granted_token> result;
};

}  // namespace troupe::actors
