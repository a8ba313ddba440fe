// pods/NAME/proxy, services/NAME/proxy and nodes/NAME/proxy: HTTP with what runs in the cluster.
//
// kubernetes: pkg/registry/core/{pod,service,node}/rest and apimachinery/pkg/util/proxy.
#pragma once

#include <string>

#include "server/rest/calls/call.hpp"

namespace troupe::server {

// With any method.
void connect_proxy(const call_ptr& call);

// Of a pod or a service: to that path there, which is the end of the request's.
void proxy_path(const call_ptr& call, const std::string& path);

// Where the path ends with the proxy's own: answers with the place of its root.
bool redirect_to_path(const call_ptr& call);

}  // namespace troupe::server
