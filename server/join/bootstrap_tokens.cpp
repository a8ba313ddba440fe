#include "server/join/bootstrap_tokens.hpp"

#include <openssl/crypto.h>

#include "api/scheme.hpp"
#include "server/join/defaults.hpp"

namespace troupe::server {

bootstrap_tokens::bootstrap_tokens(const persistence::store& store, clock now)
    : store_{store}, now_{now ? std::move(now) : clock{&std::chrono::system_clock::now}} {}

user_ptr bootstrap_tokens::find(std::string_view token) const {
  const auto parts = actors::split_token(token);
  if (!parts) return nullptr;
  const auto object = store_.read().find(api::kind_of<api::core::v1::Secret>().key(
      actors::bootstrap_token_namespace, actors::bootstrap_token_name(parts->id)));
  const auto known = object ? actors::read_bootstrap_token(*object) : std::nullopt;
  const auto expected = known ? std::string_view{known->secret} : parts->secret;
  const bool same = CRYPTO_memcmp(expected.data(), parts->secret.data(), parts->secret.size()) == 0;
  if (!known || !same || !known->authenticates || known->expired(now_())) return nullptr;
  user_info user;
  user.name = std::string{join_defaults::bootstrap_user} + known->id;
  user.groups = known->extra_groups;
  user.groups.emplace_back(bootstrappers_group);
  return std::make_shared<const user_info>(std::move(user));
}

}  // namespace troupe::server
