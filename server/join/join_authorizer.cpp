#include "server/join/join_authorizer.hpp"

#include "actors/access/node_identity.hpp"
#include "server/access/authentication.hpp"
#include "server/join/defaults.hpp"

namespace troupe::server {

std::string_view node_of(const user_info& user) {
  return actors::node_of(user.name, user.groups);
}

std::string leave_path(std::string_view node) {
  return std::string{join_defaults::api_prefix} + "nodes/" + std::string{node} + "/leave";
}

decision join_authorizer::authorize(const user_info& user, const request_info& info,
                                    std::string*) const {
  if (info.is_resource || info.verb != "post") return decision::no_opinion;
  const auto node = node_of(user);
  const bool joins = user.in_group(bootstrappers_group);
  if (info.path == certificates_path && (joins || !node.empty())) return decision::allow;
  if (info.path == control_planes_path && joins) return decision::allow;
  if (!node.empty() && info.path == leave_path(node)) return decision::allow;
  return decision::no_opinion;
}

}  // namespace troupe::server
