// pods/NAME/exec, attach and portforward: a connection with a pod's containers and ports.
//
// kubernetes: pkg/registry/core/pod/rest/subresources.go and the kubelet's server, for the rules
// and the words.
#pragma once

#include "server/rest/calls/call.hpp"

namespace troupe::server {

void connect_exec(const call_ptr& call);
void connect_attach(const call_ptr& call);
void connect_ports(const call_ptr& call);

}  // namespace troupe::server
