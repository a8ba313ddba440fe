// nodes/NAME/proxy. Kubelets of ours listen on no port: what one of upstream serves is made here,
// from the cluster's state and from what the node is asked (docs/decisions/0069-stats-of-nodes.md).
#pragma once

#include "server/rest/calls/call.hpp"

namespace troupe::server {

void connect_node_proxy(const call_ptr& call);

}  // namespace troupe::server
