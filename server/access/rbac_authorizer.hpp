// Permissions by roles and bindings: kubernetes, plugin/pkg/auth/authorizer/rbac. Allows or has no
// opinion. Thread safe and lock-free.
#pragma once

#include <memory>

#include "actors/access/policy.hpp"
#include "server/access/authorization.hpp"

namespace troupe::server {

// The attributes of the request for rules, as views.
actors::access::attempt attempt_of(const request_info& info);

class rbac_authorizer final : public authorizer {
 public:
  explicit rbac_authorizer(std::shared_ptr<const actors::access::policy> policy);

  // Bindings to system:authenticated do not apply to users of bootstrap tokens: a leaked token
  // allows only joining, and the permissions of its own groups.
  decision authorize(const user_info& user, const request_info& info,
                     std::string* reason) const override;
  void list(const user_info& user, std::string_view ns,
            api::authorization::v1::SubjectRulesReviewStatus& into) const override;

 private:
  const std::shared_ptr<const actors::access::policy> policy_;
};

}  // namespace troupe::server
