// The routes of this machine that lead to pods of others, by rtnetlink: the kernel is asked what is
// there, and the difference is made. Ours are known by their protocol number and by the name of the
// tunnel's device; others are not touched. Blocks: for a worker thread; needs CAP_NET_ADMIN.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "actors/network/netlink/netlink.hpp"
#include "actors/network/routing/route_plan.hpp"

namespace troupe::actors::routing {

// Those that are up and lead to other machines: no loopback, no devices of pods (`own`), no tunnel.
tl::expected<std::vector<own_link>, std::string> read_links(netlink::socket& kernel,
                                                            const std::vector<api::cidr>& own);

// What could not be made is named, the rest is made. Nothing: all is as planned.
std::vector<std::string> apply_routes(netlink::socket& kernel, const route_plan& plan);

// Takes our routes and the tunnel away.
tl::expected<void, std::string> remove_routes();

}  // namespace troupe::actors::routing
