// pods/NAME/log: a container's output, once or continuously.
#pragma once

#include "actors/link/node_requests.hpp"
#include "server/rest/calls/call.hpp"

namespace troupe::server {

// kubernetes: pkg/registry/core/pod/strategy.go, LogLocation, for the rules and messages.
void get_log(const call_ptr& call);

// Whether the run of the log is over: the container has ended or restarted, or the pod is gone
// (there may be another pod of its name).
bool run_ended(const call& call, const actors::open_log& log);

}  // namespace troupe::server
