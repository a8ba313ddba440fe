// metrics.k8s.io: what nodes and pods use, measured while somebody asks; nothing is stored. What
// cannot be measured, or not in time, is left out of lists and 404 by its name.
#pragma once

#include "server/rest/calls/call.hpp"

namespace troupe::server {

// True of NodeMetrics and PodMetrics.
bool is_usage(const api::kind_info& kind);

void get_usage(const call_ptr& call);
// As metrics-server, not in pages: limit and continue are passed over.
void list_usage(const call_ptr& call);

}  // namespace troupe::server
