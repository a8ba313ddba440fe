#include "server/join/join_authorizer.hpp"

#include "server/authentication.hpp"
#include "server/join/defaults.hpp"

namespace troupe::server {

std::string_view node_of(const user_info& user) {
  std::string_view name = user.name;
  if (!user.in_group(join_defaults::nodes_group) || !name.starts_with(join_defaults::node_user))
    return {};
  return name.substr(join_defaults::node_user.size());
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
