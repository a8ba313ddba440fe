// The paths that are no objects: discovery and the description of the API.
#pragma once

#include "server/rest/calls/call.hpp"

namespace troupe::server {

// Answers for every place but route::place::objects; 404 where nothing is served.
void serve_document(const call_ptr& call);

}  // namespace troupe::server
