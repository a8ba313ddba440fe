// pods/NAME/log: a container's output, at once or as it comes.
#pragma once

#include "actors/link/node_requests.hpp"
#include "server/rest/calls/call.hpp"

namespace troupe::server {

// kubernetes: pkg/registry/core/pod/strategy.go, LogLocation, for the rules and the words.
void get_log(const call_ptr& call);

// Whether the run that the log is of is over: its container has ended or runs again, or its pod has
// gone, though there may be another of its name.
bool run_ended(const call& call, const actors::open_log& log);

}  // namespace troupe::server
