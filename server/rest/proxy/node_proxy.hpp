// nodes/NAME/proxy. Our kubelets have no HTTP port: the responses of upstream's are made here, from
// the cluster's state and from queries to the node (docs/decisions/0069-stats-of-nodes.md).
#pragma once

#include "server/rest/calls/call.hpp"

namespace troupe::server {

void connect_node_proxy(const call_ptr& call);

}  // namespace troupe::server
