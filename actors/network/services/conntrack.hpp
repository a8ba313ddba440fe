// The kernel's connection table, by netlink. Blocks: for a worker thread; needs CAP_NET_ADMIN.
#pragma once

#include <cstddef>
#include <string>
#include <tl/expected.hpp>

#include "actors/network/services/address_family.hpp"
#include "actors/network/services/udp_connections.hpp"

namespace troupe::actors::services {

// Removes stale connections of `family` to these destinations and returns their number. The error
// is the kernel's, or says that it took too long.
tl::expected<std::size_t, std::string> remove_stale_connections(const udp_endpoints& endpoints,
                                                                const address_family& family);

}  // namespace troupe::actors::services
