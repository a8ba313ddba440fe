// Service accounts at the door: signs their tokens, knows whose a token is, and publishes the keys
// for whoever verifies tokens elsewhere. Thread safe; nothing here blocks.
//
// kubernetes: pkg/serviceaccount, pkg/serviceaccount/openidmetadata.go.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "actors/tokens/token_issuer.hpp"
#include "persistence/store/store.hpp"
#include "server/access/authentication.hpp"
#include "server/http/body.hpp"
#include "server/tokens/account_keys.hpp"
#include "server/tokens/verified_tokens.hpp"

namespace troupe::server {

struct account_token_options {
  // URLs; tokens are issued by the first, and taken from all.
  std::vector<std::string> issuers;
  // Of the API server; empty: the issuer.
  std::vector<std::string> api_audiences = {};
};

class account_tokens final : public token_source, public actors::token_issuer {
 public:
  using clock = std::function<std::chrono::system_clock::time_point()>;

  // The error says which option is not so. The store outlives it.
  static tl::expected<std::shared_ptr<account_tokens>, std::string> make(
      const persistence::store& store, account_keys keys, account_token_options options,
      clock now = {});

  const std::vector<std::string>& api_audiences() const noexcept override {
    return options_.api_audiences;
  }
  tl::expected<std::string, std::string> sign(const actors::token_claims& claims) const override;

  user_ptr find(std::string_view token) const override;
  token_owner find_for(std::string_view token,
                       const std::vector<std::string>& audiences) const override;

  // Where clients reach the API, "HOST:PORT": the keys are there, as the documents say.
  void address(std::string address);

  // /.well-known/openid-configuration and /openid/v1/jwks, JSON.
  std::string configuration() const;
  std::string key_set() const;

 private:
  account_tokens(const persistence::store& store, account_keys keys, account_token_options options,
                 clock now);
  // Null: not by one of our keys, or not by one of our issuers.
  verified_ptr verify(std::string_view token) const;
  // Verified, and what it says still holds.
  verified_ptr good(std::string_view token) const;

  const persistence::store& store_;
  const account_keys keys_;
  const account_token_options options_;
  const clock now_;
  mutable verified_tokens known_;
  mutable std::mutex mutex_;
  std::string address_;
};

}  // namespace troupe::server
