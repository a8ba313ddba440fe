// metrics.k8s.io: the usage of nodes and pods, measured at each request; nothing is stored. Objects
// that are not measured in time are omitted from lists, and 404 by name.
#pragma once

#include "server/rest/calls/call.hpp"

namespace troupe::server {

// True for NodeMetrics and PodMetrics.
bool is_usage(const api::kind_info& kind);

void get_usage(const call_ptr& call);
// As metrics-server, without pages: ignores limit and continue.
void list_usage(const call_ptr& call);

}  // namespace troupe::server
