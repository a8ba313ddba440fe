#include "server/join/join_authorizer.hpp"

#include "actors/node_identity.hpp"
#include "server/authentication.hpp"
#include "server/join/defaults.hpp"

namespace troupe::server {

std::string_view node_of(const user_info& user) {
  return actors::node_of(user.name, user.groups);
}

std::string leave_path(std::string_view node) {
  return std::string{join_defaults::api_prefix} + "nodes/" + std::string{node} + "/leave";
}

verdict join_authorizer::judge(const user_info& user, const request_info& what) const {
  if (what.is_resource || what.verb != "post") return verdict::no_opinion;
  const auto node = node_of(user);
  const bool joins = user.in_group(join_defaults::bootstrappers_group);
  if (what.path == certificates_path && (joins || !node.empty())) return verdict::allow;
  if (!node.empty() && what.path == leave_path(node)) return verdict::allow;
  return verdict::no_opinion;
}

}  // namespace troupe::server
