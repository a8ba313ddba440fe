// Bootstrap tokens as credentials. They are read from the store at each use: a deleted or expired
// token is invalid at once. Thread safe.
#pragma once

#include <functional>

#include "actors/tokens/bootstrap_token.hpp"
#include "persistence/store/store.hpp"
#include "server/access/authentication.hpp"

namespace troupe::server {

class bootstrap_tokens final : public token_source {
 public:
  using clock = std::function<actors::token_time()>;

  // The store must outlive it. Without a clock: the system's.
  explicit bootstrap_tokens(const persistence::store& store, clock now = {});

  // The user is system:bootstrap:ID in system:bootstrappers. The id is public; the secret is
  // compared in constant time, with itself if there is no such id.
  user_ptr find(std::string_view token) const override;

 private:
  const persistence::store& store_;
  const clock now_;
};

}  // namespace troupe::server
