// ComponentStatus: how the parts of the control plane are, made up while somebody asks. The actors
// are looked at in their directory, the store by its own word; nothing is stored.
#pragma once

#include "server/rest/calls/call.hpp"

namespace troupe::server {

void get_component(const call_ptr& call);
void list_components(const call_ptr& call);

}  // namespace troupe::server
