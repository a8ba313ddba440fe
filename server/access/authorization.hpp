// Authorization. Thread safe; called on I/O threads, so an authorizer must not block.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/error.hpp"
#include "server/http/http.hpp"
#include "server/http/request_info.hpp"

namespace troupe::server {

enum class decision { allow, deny, no_opinion };

// One source of permissions; node restriction and RBAC are others beside those here.
class authorizer {
 public:
  virtual ~authorizer() = default;
  virtual decision authorize(const user_info& user, const request_info& info) const = 0;
};

// /healthz, /livez, /readyz and /version for everybody (upstream: system:public-info-viewer).
bool is_public(const request_info& info);

// The permissions without any policy: system:masters everything, everybody the public paths,
// authenticated users discovery, the keys of service account tokens, and reviews of themselves
// (upstream: system:discovery, system:service-account-issuer-discovery, system:basic-user).
class baseline_authorizer final : public authorizer {
 public:
  decision authorize(const user_info& user, const request_info& info) const override;
};

// The first that allows or denies decides; no opinion at all is a refusal: 401 for an anonymous
// user, 403 in upstream's words for others.
class authorization {
 public:
  explicit authorization(std::vector<std::shared_ptr<const authorizer>> others);
  api::expected<void> check(const user_info& user, const request_info& info) const;

 private:
  std::vector<std::shared_ptr<const authorizer>> authorizers_;
};

}  // namespace troupe::server
