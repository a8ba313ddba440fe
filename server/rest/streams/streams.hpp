// pods/NAME/exec, attach and portforward: connections to a pod's containers and ports.
//
// kubernetes: pkg/registry/core/pod/rest/subresources.go and the kubelet's server, for the rules
// and messages.
#pragma once

#include <memory>

#include "api/schema/core_pod.pb.h"
#include "server/rest/calls/call.hpp"

namespace troupe::actors {
class stream_source;
}

namespace troupe::server {

// The stream source of the pod's node; null: the node runs no processes.
std::shared_ptr<actors::stream_source> source_of(const call& call, const api::core::v1::Pod& pod);

void connect_exec(const call_ptr& call);
void connect_attach(const call_ptr& call);
void connect_ports(const call_ptr& call);

}  // namespace troupe::server
