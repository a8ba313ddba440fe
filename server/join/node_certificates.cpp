#include "server/join/node_certificates.hpp"

#include "server/join/defaults.hpp"
#include "server/join/join_authorizer.hpp"
#include "server/join/membership.hpp"

namespace troupe::server {

api::expected<void> node_certificates::check(const request& head) const {
  const auto& connection = *head.connection;
  const auto& user = *connection.certificate_user;
  if (node_of(user).empty() || head.path.starts_with(join_defaults::api_prefix)) return {};
  return check_membership(store_.read(), user, connection.certificate_key_hash);
}

}  // namespace troupe::server
