// Gives Services of type LoadBalancer that ask for it (loadBalancerClass troupe.io/nodes) the
// addresses of the nodes: these serve them as they serve cluster addresses
// (docs/decisions/0059-load-balancers-on-nodes.md).
#pragma once

#include "actors/controllers/kit/controller_type.hpp"

namespace troupe::actors::load_balancers {

controller_type controller();

}  // namespace troupe::actors::load_balancers
