// Releases of etcd that can answer a read of the newest state with an old one, after a member was
// paused (etcd-io/etcd#20418).
#pragma once

#include <string_view>

namespace troupe::persistence {

inline constexpr std::string_view etcd_releases_without_old_state = "3.4.42, 3.5.28 and 3.6.9";

// False for a text that is no version.
bool may_read_old_state(std::string_view etcd_version);

}  // namespace troupe::persistence
