// Permissions by roles and bindings: kubernetes, plugin/pkg/auth/authorizer/rbac. Allows or has no
// opinion. Thread safe, takes no lock.
#pragma once

#include <memory>

#include "actors/access/policy.hpp"
#include "server/access/authorization.hpp"

namespace troupe::server {

// The request as rules see it: views.
actors::access::attempt attempt_of(const request_info& info);

class rbac_authorizer final : public authorizer {
 public:
  explicit rbac_authorizer(std::shared_ptr<const actors::access::policy> policy);

  // What is bound to system:authenticated is not given to users of bootstrap tokens: a token that
  // leaks is good for joining, and for what its own groups are given.
  decision authorize(const user_info& user, const request_info& info,
                     std::string* reason) const override;
  void list(const user_info& user, std::string_view ns,
            api::authorization::v1::SubjectRulesReviewStatus& into) const override;

 private:
  const std::shared_ptr<const actors::access::policy> policy_;
};

}  // namespace troupe::server
