// A cache of tokens with verified signatures: a second verification (about 0.1 ms) is not
// needed. Bounded: keeps the newest `half` to twice as many, and only the hash of a token.
// Thread safe.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "actors/tokens/account_token.hpp"
#include "server/http/http.hpp"

namespace troupe::server {

struct verified_token {
  verified_token(actors::token_claims held, user_ptr owner)
      : claims{std::move(held)}, user{std::move(owner)} {}

  const actors::token_claims claims;
  const user_ptr user;
  // When the label of its use was last looked at; for legacy tokens.
  mutable std::atomic<std::int64_t> use_checked_at{0};
};
using verified_ptr = std::shared_ptr<const verified_token>;

class verified_tokens {
 public:
  // `half`: number of tokens.
  explicit verified_tokens(std::size_t half) : half_{half} {}

  // `hash`: es256::sha256 of the token. Null if unknown.
  verified_ptr find(const std::string& hash) const {
    const std::lock_guard lock{mutex_};
    if (const auto found = young_.find(hash); found != young_.end()) return found->second;
    const auto found = old_.find(hash);
    if (found == old_.end()) return nullptr;
    auto token = found->second;
    keep(hash, token);
    return token;
  }

  void put(const std::string& hash, verified_ptr token) {
    const std::lock_guard lock{mutex_};
    keep(hash, std::move(token));
  }

  std::size_t size() const {
    const std::lock_guard lock{mutex_};
    return young_.size() + old_.size();
  }

 private:
  using generation = std::unordered_map<std::string, verified_ptr>;

  // Tokens that were not used in two generations are dropped.
  void keep(const std::string& hash, verified_ptr token) const {
    if (young_.size() >= half_) old_ = std::exchange(young_, {});
    young_[hash] = std::move(token);
  }

  const std::size_t half_;
  mutable std::mutex mutex_;
  mutable generation young_, old_;
};

}  // namespace troupe::server
