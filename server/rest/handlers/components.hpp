// ComponentStatus: the health of the control plane's components, computed at each request from the
// actor directory and the store's state; nothing is stored.
#pragma once

#include "server/rest/calls/call.hpp"

namespace troupe::server {

void get_component(const call_ptr& call);
void list_components(const call_ptr& call);

}  // namespace troupe::server
