#include "server/join/node_signer.hpp"

#include <algorithm>

#include "actors/access/node_identity.hpp"
#include "server/join/defaults.hpp"

namespace troupe::server {

void node_signer::replace(x509::identity authority) {
  const std::lock_guard lock{mutex_};
  authority_ = std::move(authority);
}

std::string node_signer::authority() const {
  const std::lock_guard lock{mutex_};
  return authority_.certificate;
}

tl::expected<std::string, std::string> node_signer::certify(const std::string& node,
                                                            const std::string& public_key,
                                                            x509::time_point now) const {
  x509::identity authority;
  {
    const std::lock_guard lock{mutex_};
    authority = authority_;
  }
  const auto early = std::min<std::chrono::milliseconds>(join_defaults::backdated,
                                                         life_ / join_defaults::backdated_part);
  x509::leaf leaf;
  leaf.common_name = std::string{actors::node_user_prefix} + node;
  leaf.organizations = {std::string{actors::nodes_group}, std::string{actors::joined_nodes_group}};
  leaf.valid = {now - early, now + life_};
  return x509::certify(authority, leaf, public_key);
}

}  // namespace troupe::server
