// Authorization. Thread safe; called on I/O threads, so an authorizer must not block.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/error.hpp"
#include "api/schema/authorization_v1.pb.h"
#include "server/http/http.hpp"
#include "server/http/request_info.hpp"

namespace troupe::server {

enum class decision { allow, deny, no_opinion };

// One source of permissions: the baseline (here), those of joining machines, or roles and bindings
// (rbac_authorizer.hpp).
class authorizer {
 public:
  virtual ~authorizer() = default;
  // `reason`, if not null, is set to the reason if there is one.
  virtual decision authorize(const user_info& user, const request_info& info,
                             std::string* reason) const = 0;
  // Adds the rules that it would allow the user in a namespace and in the whole cluster, as far as
  // they can be listed.
  virtual void list(const user_info& user, std::string_view ns,
                    api::authorization::v1::SubjectRulesReviewStatus& into) const {
    static_cast<void>(user), static_cast<void>(ns), static_cast<void>(into);
  }
};

// /healthz, /livez, /readyz and /version for all users (upstream: system:public-info-viewer).
bool is_public(const request_info& info);

// The permissions without any policy: everything for system:masters; public paths for all users;
// discovery, the keys of service account tokens and self reviews for authenticated users (upstream:
// system:discovery, system:service-account-issuer-discovery, system:basic-user).
class baseline_authorizer final : public authorizer {
 public:
  decision authorize(const user_info& user, const request_info& info,
                     std::string* reason) const override;
  // For masters only: for others it is part of the default roles.
  void list(const user_info& user, std::string_view ns,
            api::authorization::v1::SubjectRulesReviewStatus& into) const override;
};

// The first authorizer that allows or denies decides; without a decision the request is refused.
class authorization {
 public:
  explicit authorization(std::vector<std::shared_ptr<const authorizer>> others);
  // A refusal is a 403 in upstream's wording, for an anonymous user too: a client without
  // credentials is a user with few permissions.
  api::expected<void> check(const user_info& user, const request_info& info) const;

  struct authorization_result {
    decision decided = decision::no_opinion;
    std::string reason;  // may be empty
  };
  authorization_result evaluate(const user_info& user, const request_info& info) const;
  void list(const user_info& user, std::string_view ns,
            api::authorization::v1::SubjectRulesReviewStatus& into) const;

 private:
  decision decide(const user_info& user, const request_info& info, std::string* reason) const;

  std::vector<std::shared_ptr<const authorizer>> authorizers_;
};

}  // namespace troupe::server
