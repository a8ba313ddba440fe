// Tokens of ServiceAccounts: requests, claims and validation. Pure functions of the current state;
// the token_issuer signs (token_issuer.hpp).
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
#include "persistence/transaction.hpp"
#include "persistence/tree/snapshot.hpp"

namespace troupe::actors {

inline constexpr std::string_view account_user_prefix = "system:serviceaccount:";
inline constexpr std::string_view accounts_group = "system:serviceaccounts";
inline constexpr std::string_view account_token_type = "kubernetes.io/service-account-token";
inline constexpr std::string_view account_name_annotation = "kubernetes.io/service-account.name";
inline constexpr std::string_view account_uid_annotation = "kubernetes.io/service-account.uid";
// On the Secret of a legacy token: the day of its last use, in UTC.
inline constexpr std::string_view last_used_label = "kubernetes.io/legacy-token-last-used";
// On the Secret of a legacy token: the day since which the token is refused; absent: never.
inline constexpr std::string_view invalid_since_label = "kubernetes.io/legacy-token-invalid-since";

// An object by name and uid.
struct named_uid {
  std::string name, uid;
  bool operator==(const named_uid&) const = default;
};

// The claims of a token. Times are seconds since the epoch.
struct token_claims {
  std::string ns;
  named_uid account;
  // The token is valid while these exist. A node in addition to a pod is only informative.
  std::optional<named_uid> pod, secret, node;
  std::vector<std::string> audiences;
  std::string id;  // unique id of the token
  std::int64_t issued = 0;
  std::int64_t expires = 0;     // 0: never, in legacy tokens
  std::int64_t warn_after = 0;  // 0: not set
  // A legacy token as in Secrets: `secret` has no uid and names the Secret that holds it.
  bool legacy = false;
};

// "system:serviceaccount:NAMESPACE:NAME".
std::string account_user(std::string_view ns, std::string_view account);

// The content of a TokenRequest.
struct token_spec {
  std::string ns, account;
  std::vector<std::string> audiences;  // empty: the API server's
  std::int64_t expiration_seconds = 0;
  // The object to which the token is bound; an empty kind: none. An empty uid: any of that name.
  std::string bound_kind = {}, bound_api_version = {}, bound_name = {}, bound_uid = {};
};

struct planned_token {
  token_claims claims;
  // The expiry reported to the client: a pod's token for the API server is valid for longer, for
  // clients that do not reload it.
  std::int64_t shown_expiration = 0;
};

// Returns 404 if the account or object does not exist, 400 or 409 if it does not match, 422 if the
// expiration is out of bounds. `id` becomes the token's id.
api::expected<planned_token> plan_token(const persistence::snapshot& state,
                                        const token_spec& request,
                                        std::span<const std::string> api_audiences,
                                        std::int64_t now_seconds, std::string id);

// Checks a token with these claims: not expired, its account and bound objects exist, and the
// Secret of a legacy token still holds it. The error is for the log.
tl::expected<void, std::string> check_claims(const persistence::snapshot& state,
                                             const token_claims& claims, std::string_view token,
                                             std::int64_t now_seconds);

// The write that labels the Secret of a valid legacy token with the day of its use; nullopt if it
// is labelled with that day, or with the next one by a server with another clock. At most one write
// a day for each Secret.
//
// kubernetes: pkg/serviceaccount/legacy.go.
std::optional<persistence::transaction> plan_last_use(const persistence::snapshot& state,
                                                      const token_claims& claims,
                                                      std::int64_t now_seconds);

}  // namespace troupe::actors
