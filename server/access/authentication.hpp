// Authentication by a verified client certificate or a bearer token (for a WebSocket also as a
// subprotocol, socket_token.hpp), else as anonymous. Thread safe.
#pragma once

#include <atomic>
#include <functional>
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
// The group of users of bootstrap tokens (kubernetes: cluster-bootstrap/api).
inline constexpr std::string_view bootstrappers_group = "system:bootstrappers";

// CN is the user name, O are the groups (upstream's x509 authenticator).
user_ptr user_of_certificate(std::string common_name, std::vector<std::string> organizations);
const user_ptr& anonymous();

// The user of a token, and which of the requested audiences it is for. No user: unknown token.
struct token_owner {
  user_ptr user;
  std::vector<std::string> audiences = {};
};

// A source of tokens: the static file, join tokens, service accounts.
class token_source {
 public:
  virtual ~token_source() = default;
  // Null if the token is unknown. Must not block, and must take the same time for every wrong
  // token. Must not log the token. The user's groups need not include system:authenticated.
  virtual user_ptr find(std::string_view token) const = 0;
  // For a service that accepts one of these audiences; none: the API server. Tokens without an
  // audience are for the API server only.
  virtual token_owner find_for(std::string_view token,
                               const std::vector<std::string>& audiences) const {
    if (!audiences.empty()) return {};
    return {find(token), {}};
  }
  // Whether a token that find() refuses may be valid in the newest state of the cluster, which
  // another control plane may have written: it was signed a moment ago. Must not block.
  virtual bool is_new(std::string_view token) const {
    static_cast<void>(token);
    return false;
  }
  // Calls `done`, once, when find() knows what was written before this call, or when that fails.
  virtual void at_newest(std::function<void()> done) const { done(); }
};

// A further check of verified client certificates.
class certificate_check {
 public:
  virtual ~certificate_check() = default;
  // Checks the certificate of the request's connection. Must not block.
  virtual api::expected<void> check(const request& head) const = 0;
};

class authenticator {
 public:
  // `anonymous_access` false: every request needs credentials, for public paths too. `certificates`
  // may be null.
  explicit authenticator(std::vector<std::shared_ptr<const token_source>> sources,
                         bool anonymous_access = true,
                         std::shared_ptr<const certificate_check> certificates = nullptr);

  // 401 for invalid credentials, even if none are needed, or the error of the certificate check;
  // anonymous() without credentials.
  api::expected<user_ptr> authenticate(const request& head) const;
  // The source of the request's bearer token if authenticate() refused a new one; else null.
  const token_source* source_of_new_token(const request& head) const;
  // The owner of a bearer token presented to another service. No audiences: the API server's.
  token_owner owner_of(std::string_view token, const std::vector<std::string>& audiences) const;

 private:
  api::expected<user_ptr> bearer(std::string_view token) const;

  const std::vector<std::shared_ptr<const token_source>> sources_;
  const bool anonymous_access_;
  const std::shared_ptr<const certificate_check> certificates_;
};

// Gives TokenReview access to the authenticator, which is created later. Thread safe.
class token_reviewer {
 public:
  // The authenticator must outlive the requests that use this.
  void attach(const authenticator& by) noexcept { by_.store(&by); }
  // Null until attach().
  const authenticator* get() const noexcept { return by_.load(); }

 private:
  std::atomic<const authenticator*> by_{nullptr};
};

}  // namespace troupe::server
