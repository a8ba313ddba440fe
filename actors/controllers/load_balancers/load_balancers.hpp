// The controller of Services of type LoadBalancer with loadBalancerClass troupe.io/nodes and, if
// the configuration does not limit it to these, of those without a class: it gives them the
// addresses of the nodes, which serve these like cluster addresses
// (docs/decisions/0059-load-balancers-on-nodes.md).
#pragma once

#include "actors/controllers/kit/controller_type.hpp"

namespace troupe::actors::load_balancers {

controller_type controller();

}  // namespace troupe::actors::load_balancers
