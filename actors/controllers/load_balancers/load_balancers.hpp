// The controller of Services of type LoadBalancer with loadBalancerClass troupe.io/nodes: it gives
// them the addresses of the nodes, which serve these like cluster addresses
// (docs/decisions/0059-load-balancers-on-nodes.md).
#pragma once

#include "actors/controllers/kit/controller_type.hpp"

namespace troupe::actors::load_balancers {

controller_type controller();

}  // namespace troupe::actors::load_balancers
