// Service account tokens: signs them, authenticates their users, and publishes the keys for
// verification elsewhere. Thread safe; does not block.
//
// kubernetes: pkg/serviceaccount, pkg/serviceaccount/openidmetadata.go.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "actors/tokens/token_issuer.hpp"
#include "persistence/store/store.hpp"
#include "server/access/authentication.hpp"
#include "server/http/body.hpp"
#include "server/tokens/account_keys.hpp"
#include "server/tokens/verified_tokens.hpp"

namespace troupe::server {

struct account_token_options {
  // URLs; the first one issues tokens, tokens of all are accepted.
  std::vector<std::string> issuers;
  // Audiences of the API server; empty: the issuer.
  std::vector<std::string> api_audiences = {};
};

class account_tokens final : public token_source, public actors::token_issuer {
 public:
  using clock = std::function<std::chrono::system_clock::time_point()>;

  // The error names the invalid option. The store must outlive it.
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

  bool is_new(std::string_view token) const override;
  void at_newest(std::function<void()> done) const override { at_newest_(std::move(done)); }

  // For a store with other writers: calls `done`, once, when read() shows what they had written
  // before, or when that fails. Call it before the first find().
  void wait_for_others(std::function<void(std::function<void()> done)> at_newest) {
    at_newest_ = std::move(at_newest);
  }

  // How the use of a legacy token is written to the label of its Secret; without it, it is not.
  // `commit` must not block. Call it before the first find().
  void record_uses(std::function<void(persistence::transaction)> commit) {
    commit_ = std::move(commit);
  }

  // The address of the API for clients, "HOST:PORT"; the documents refer to it for the keys.
  void address(std::string address);

  // /.well-known/openid-configuration and /openid/v1/jwks, JSON.
  std::string configuration() const;
  std::string key_set() const;

 private:
  account_tokens(const persistence::store& store, account_keys keys, account_token_options options,
                 clock now);
  // Null if it was not signed by our keys, or not by our issuers.
  verified_ptr verify(std::string_view token) const;
  // Verifies the signature, and that the claims are still valid.
  verified_ptr good(std::string_view token) const;
  std::int64_t now_seconds() const;
  void record_use(const persistence::snapshot& state, const verified_token& token,
                  std::int64_t now_seconds) const;

  const persistence::store& store_;
  const account_keys keys_;
  const account_token_options options_;
  const clock now_;
  std::function<void(persistence::transaction)> commit_;
  std::function<void(std::function<void()>)> at_newest_;
  mutable verified_tokens known_;
  mutable std::mutex mutex_;
  std::string address_;
};

}  // namespace troupe::server
