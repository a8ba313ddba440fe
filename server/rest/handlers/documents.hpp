// Paths that are not objects: discovery and the description of the API.
#pragma once

#include "server/rest/calls/call.hpp"

namespace troupe::server {

// Serves every place except route::place::objects; 404 for unknown paths.
void serve_document(const call_ptr& call);

// kubernetes: apimachinery/pkg/api/errors, NewGenericServerResponse for 404.
api::error path_not_found();

}  // namespace troupe::server
