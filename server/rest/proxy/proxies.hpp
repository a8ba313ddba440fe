// pods/NAME/proxy, services/NAME/proxy and nodes/NAME/proxy: HTTP to programs in the cluster.
//
// kubernetes: pkg/registry/core/{pod,service,node}/rest and apimachinery/pkg/util/proxy.
#pragma once

#include <string>

#include "server/rest/calls/call.hpp"

namespace troupe::server {

// With any method.
void connect_proxy(const call_ptr& call);

// For a pod or a service: proxies to `path`, which is the end of the request's path.
void proxy_path(const call_ptr& call, const std::string& path);

// If the path ends with "proxy", redirects to the root path below it.
bool redirect_to_path(const call_ptr& call);

}  // namespace troupe::server
