// Authentication: a verified client certificate, a bearer token (of a WebSocket also as a
// subprotocol, socket_token.hpp), or nobody in particular. Thread safe.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/error.hpp"
#include "server/http/http.hpp"

namespace troupe::server {

inline constexpr std::string_view masters_group = "system:masters";
inline constexpr std::string_view authenticated_group = "system:authenticated";
inline constexpr std::string_view unauthenticated_group = "system:unauthenticated";
// Users of bootstrap tokens (kubernetes: cluster-bootstrap/api).
inline constexpr std::string_view bootstrappers_group = "system:bootstrappers";

// CN is the name and O the groups (upstream's x509 authenticator).
user_ptr user_of_certificate(std::string common_name, std::vector<std::string> organizations);
const user_ptr& anonymous();

// Whose a token is, and which of the audiences asked for it is meant for. Without a user: nobody's.
struct token_owner {
  user_ptr user;
  std::vector<std::string> audiences = {};
};

// Knows some tokens: the static file, join tokens, service accounts.
class token_source {
 public:
  virtual ~token_source() = default;
  // Null: not one of mine. Must not block, and must take the same time for every wrong token. The
  // token may not be logged. The user's groups need not include system:authenticated.
  virtual user_ptr find(std::string_view token) const = 0;
  // For a service that asks as one of these audiences; none: the API server. Tokens that name no
  // audience are for the API server alone.
  virtual token_owner find_for(std::string_view token,
                               const std::vector<std::string>& audiences) const {
    if (!audiences.empty()) return {};
    return {find(token), {}};
  }
};

// Whether a certificate that was verified is still good.
class certificate_check {
 public:
  virtual ~certificate_check() = default;
  // Of the certificate of this request's connection. Must not block.
  virtual api::expected<void> check(const request& head) const = 0;
};

class authenticator {
 public:
  // `anonymous_access` false: everybody needs credentials, for public paths too. `certificates` may
  // be null.
  explicit authenticator(std::vector<std::shared_ptr<const token_source>> sources,
                         bool anonymous_access = true,
                         std::shared_ptr<const certificate_check> certificates = nullptr);

  // 401 for credentials that are presented and not good, even where none are needed, or what the
  // check of certificates says; anonymous() where there are none.
  api::expected<user_ptr> authenticate(const request& head) const;
  // A bearer token that somebody else was presented with. No audiences: those of the API server.
  token_owner owner_of(std::string_view token, const std::vector<std::string>& audiences) const;

 private:
  api::expected<user_ptr> bearer(std::string_view token) const;

  const std::vector<std::shared_ptr<const token_source>> sources_;
  const bool anonymous_access_;
  const std::shared_ptr<const certificate_check> certificates_;
};

// The authenticator of a server for those who are there before it: TokenReview. Thread safe.
class token_reviewer {
 public:
  // The authenticator outlives the requests that use this.
  void attach(const authenticator& by) noexcept { by_.store(&by); }
  // Null: it is not there yet.
  const authenticator* get() const noexcept { return by_.load(); }

 private:
  std::atomic<const authenticator*> by_{nullptr};
};

}  // namespace troupe::server
