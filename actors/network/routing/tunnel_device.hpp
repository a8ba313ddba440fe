// The VXLAN device, and whom it reaches: for each other machine a permanent neighbour and an entry
// of its forwarding table, so that it asks nobody. Blocks, as kernel_routes.hpp says.
#pragma once

#include <string>
#include <vector>

#include "actors/network/netlink/netlink.hpp"
#include "actors/network/routing/route_plan.hpp"

namespace troupe::actors::routing {

// Its index; 0: there is none, or it could not be made, and `problems` says why. Without peers it
// is taken away.
int apply_tunnel(netlink::socket& kernel, const tunnel& wanted, std::vector<std::string>& problems);

}  // namespace troupe::actors::routing
