// The VXLAN device and its peers: for each other machine a permanent neighbour and an entry in the
// forwarding table, so that it never has to resolve one. Blocks, like kernel_routes.hpp.
#pragma once

#include <string>
#include <vector>

#include "actors/network/netlink/netlink.hpp"
#include "actors/network/routing/route_plan.hpp"

namespace troupe::actors::routing {

// Creates or updates the device and returns its index; 0: it is absent or could not be created, and
// `problems` says why. Without peers it is removed.
int apply_tunnel(netlink::socket& kernel, const tunnel& wanted, std::vector<std::string>& problems);

}  // namespace troupe::actors::routing
