// The permissions of machines over HTTP: one that joins may ask for its certificate, a node may
// renew its own and leave. All else that a node reads and writes goes over its link. Pure.
#pragma once

#include "server/access/authorization.hpp"

namespace troupe::server {

class join_authorizer final : public authorizer {
 public:
  // Allows, or has no opinion: requests that nobody allows are refused.
  decision authorize(const user_info& user, const request_info& info,
                     std::string* reason) const override;
};

// The node that a user of system:nodes is; empty for others.
std::string_view node_of(const user_info& user);

// "/troupe/v1/node-certificates", "/troupe/v1/nodes/NAME/leave".
inline constexpr std::string_view certificates_path = "/troupe/v1/node-certificates";
std::string leave_path(std::string_view node);

}  // namespace troupe::server
