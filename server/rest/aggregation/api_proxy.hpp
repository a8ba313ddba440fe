// Proxies requests of aggregated APIs to their servers.
//
// kubernetes: kube-aggregator/pkg/apiserver/handler_proxy.go.
#pragma once

#include "server/rest/aggregation/aggregated_apis.hpp"
#include "server/rest/calls/call.hpp"

namespace troupe::server {

void forward_request(const call_ptr& call, const aggregated_api& to);

}  // namespace troupe::server
