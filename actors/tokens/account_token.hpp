// Tokens of ServiceAccounts: which may be had, what they say, and whether what one says still
// holds. Pure functions of the present state; signing is the token_issuer's (token_issuer.hpp).
//
// kubernetes: pkg/registry/core/serviceaccount/storage/token.go, pkg/serviceaccount/claims.go.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/error.hpp"
#include "persistence/tree/snapshot.hpp"

namespace troupe::actors {

inline constexpr std::string_view account_user_prefix = "system:serviceaccount:";
inline constexpr std::string_view accounts_group = "system:serviceaccounts";
inline constexpr std::string_view account_token_type = "kubernetes.io/service-account-token";
inline constexpr std::string_view account_name_annotation = "kubernetes.io/service-account.name";
inline constexpr std::string_view account_uid_annotation = "kubernetes.io/service-account.uid";

// An object by name and uid.
struct named_uid {
  std::string name, uid;
  bool operator==(const named_uid&) const = default;
};

// What a token says. Times are seconds since 1970.
struct token_claims {
  std::string ns;
  named_uid account;
  // The token is good as long as these exist. A node beside a pod only says where the pod was.
  std::optional<named_uid> pod, secret, node;
  std::vector<std::string> audiences;
  std::string id;  // of this token
  std::int64_t issued = 0;
  std::int64_t expires = 0;     // 0: never, in the form that Secrets hold
  std::int64_t warn_after = 0;  // 0: not said
  // Of the form that Secrets hold: `secret` has no uid and is where the token stands.
  bool legacy = false;
};

// "system:serviceaccount:NAMESPACE:NAME".
std::string account_user(std::string_view ns, std::string_view account);

// A TokenRequest.
struct token_order {
  std::string ns, account;
  std::vector<std::string> audiences;  // empty: the API server's
  std::int64_t expiration_seconds = 0;
  // Of the object that it is bound to; an empty kind: none. An empty uid: whoever has the name.
  std::string bound_kind = {}, bound_api_version = {}, bound_name = {}, bound_uid = {};
};

struct planned_token {
  token_claims claims;
  // When it is to be replaced, as the one who asked is told: a pod's token for the API server is
  // good for longer, for clients that do not read it again.
  std::int64_t shown_expiration = 0;
};

// 404 for an account or object that is not there, 400 and 409 for one that does not fit, 422 for an
// expiration out of bounds. `id` becomes that of the token.
api::expected<planned_token> plan_token(const persistence::snapshot& state,
                                        const token_order& order,
                                        std::span<const std::string> api_audiences,
                                        std::int64_t now_seconds, std::string id);

// Whether `token`, which says so, is good at that time: not expired, its account and what it is
// bound to are there; the Secret of a legacy one still holds it. The error is for the log.
tl::expected<void, std::string> check_claims(const persistence::snapshot& state,
                                             const token_claims& claims, std::string_view token,
                                             std::int64_t now_seconds);

}  // namespace troupe::actors
