// Rules that let only the nodes of the cluster send to the VXLAN port, since whoever can send there
// can send any packet into the network of pods (docs/decisions/0057-pod-network-by-rtnetlink.md).
// They are tables of their own: they come and go with the routes, not with services.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "actors/network/routing/node_ranges.hpp"
#include "actors/network/services/address_family.hpp"

namespace troupe::actors::routing {

// Script that writes the table of `family` anew. `cluster`: the ranges of all pods. Pure.
std::string tunnel_filter(const node_ranges& nodes, const std::vector<api::cidr>& cluster,
                          const services::address_family& family);

// Writes that table. Blocks.
tl::expected<void, std::string> apply_tunnel_filter(const node_ranges& nodes,
                                                    const std::vector<api::cidr>& cluster,
                                                    const services::address_family& family);

// Removes the tables. Blocks.
tl::expected<void, std::string> remove_tunnel_filter();

}  // namespace troupe::actors::routing
