// Who signs the tokens of ServiceAccounts, and the messages by which a kubelet asks for one.
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
  // Of tokens for the API server; never empty.
  virtual const std::vector<std::string>& api_audiences() const noexcept = 0;
  // The token in the form in which it is presented. The error says why it cannot be signed.
  virtual tl::expected<std::string, std::string> sign(const token_claims& claims) const = 0;
};

// A request to the actor `token-desk`, or to a gateway in its place; answered by `token_answer`.
struct request_token {
  token_order order;
};

struct granted_token {
  std::string token;
  std::int64_t expires = 0;  // seconds since 1970: when it is to be replaced at the latest
};

struct token_answer {
  api::expected<granted_token> result;
};

}  // namespace troupe::actors
