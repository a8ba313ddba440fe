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

// One source of permissions: those of everybody (here), of machines that join, of roles and
// bindings (rbac_authorizer.hpp).
class authorizer {
 public:
  virtual ~authorizer() = default;
  // `reason`, where given, is set to why, where there is something to say.
  virtual decision authorize(const user_info& user, const request_info& info,
                             std::string* reason) const = 0;
  // Adds what it would allow the user in a namespace and in the whole cluster, as far as that can
  // be listed.
  virtual void list(const user_info& user, std::string_view ns,
                    api::authorization::v1::SubjectRulesReviewStatus& into) const {
    static_cast<void>(user), static_cast<void>(ns), static_cast<void>(into);
  }
};

// /healthz, /livez, /readyz and /version for everybody (upstream: system:public-info-viewer).
bool is_public(const request_info& info);

// The permissions without any policy: system:masters everything, everybody the public paths,
// authenticated users discovery, the keys of service account tokens, and reviews of themselves
// (upstream: system:discovery, system:service-account-issuer-discovery, system:basic-user).
class baseline_authorizer final : public authorizer {
 public:
  decision authorize(const user_info& user, const request_info& info,
                     std::string* reason) const override;
  // Of masters alone: for others it is part of the default roles.
  void list(const user_info& user, std::string_view ns,
            api::authorization::v1::SubjectRulesReviewStatus& into) const override;
};

// The first that allows or denies decides; no opinion at all is a refusal.
class authorization {
 public:
  explicit authorization(std::vector<std::shared_ptr<const authorizer>> others);
  // A refusal is a 403 in upstream's words, for an anonymous user too: who presents no credentials
  // is somebody who may do little.
  api::expected<void> check(const user_info& user, const request_info& info) const;

  struct judgement {
    decision decided = decision::no_opinion;
    std::string reason;  // may be empty
  };
  judgement judge(const user_info& user, const request_info& info) const;
  void list(const user_info& user, std::string_view ns,
            api::authorization::v1::SubjectRulesReviewStatus& into) const;

 private:
  decision decide(const user_info& user, const request_info& info, std::string* reason) const;

  std::vector<std::shared_ptr<const authorizer>> authorizers_;
};

}  // namespace troupe::server
