// The HTTP permissions of machines: a joining one may request its certificate, or the bundle of a
// control plane; a node may renew its own certificate and leave. Other reads and writes of a node
// use its link. Pure.
#pragma once

#include "server/access/authorization.hpp"

namespace troupe::server {

class join_authorizer final : public authorizer {
 public:
  // Allows, or has no opinion: requests that no authorizer allows are refused.
  decision authorize(const user_info& user, const request_info& info,
                     std::string* reason) const override;
};

// The node name of a user in system:nodes; empty for others.
std::string_view node_of(const user_info& user);

// The sealed bundle of the token that authenticates the request (control_plane_bundle.hpp).
inline constexpr std::string_view control_planes_path = "/troupe/v1/control-planes";

// "/troupe/v1/node-certificates", "/troupe/v1/nodes/NAME/leave".
inline constexpr std::string_view certificates_path = "/troupe/v1/node-certificates";
std::string leave_path(std::string_view node);

}  // namespace troupe::server
