// The routes of this machine to pods of others, by rtnetlink: reads the current routes and applies
// the difference. Ours are recognized by their protocol number and by the tunnel's device name;
// others are not touched. Blocks: for a worker thread; needs CAP_NET_ADMIN.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "actors/network/netlink/netlink.hpp"
#include "actors/network/routing/route_plan.hpp"

namespace troupe::actors::routing {

// Links that are up and lead to other machines: no loopback, no pod devices (`own`), no tunnel.
tl::expected<std::vector<own_link>, std::string> read_links(netlink::socket& kernel,
                                                            const std::vector<api::cidr>& own);

// Returns the routes that could not be set; all others are set. Empty: all are as planned.
std::vector<std::string> apply_routes(netlink::socket& kernel, const route_plan& plan);

// Removes our routes and the tunnel.
tl::expected<void, std::string> remove_routes();

}  // namespace troupe::actors::routing
