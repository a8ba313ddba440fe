// The HTTP proxy to a pod or a service, as in v0.5 and v0.6:
//
//   /api/v1beta1/proxy/pods/ID[:PORT]/PATH?namespace=NS, and the same of services
//
// It is today's proxy (rest/proxy/) under another path.
#pragma once

#include <string_view>
#include <vector>

#include "server/http/http.hpp"
#include "server/rest/calls/services.hpp"

namespace troupe::server::legacy {

// `parts`: the path segments after /api/v1beta1.
bool is_object_request(const std::vector<std::string_view>& parts);

// Serves such a path, with any method.
void pass_to_object(rest_services& services, const request& request, responder answer,
                    const std::vector<std::string_view>& parts);

}  // namespace troupe::server::legacy
