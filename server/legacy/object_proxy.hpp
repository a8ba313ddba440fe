// HTTP with a pod or a service, as v0.5 and v0.6 had it:
//
//   /api/v1beta1/proxy/pods/ID[:PORT]/PATH?namespace=NS, and the same of services
//
// It is the proxy of today (rest/proxy/) by another path.
#pragma once

#include <string_view>
#include <vector>

#include "server/http/http.hpp"
#include "server/rest/calls/services.hpp"

namespace troupe::server::legacy {

// The parts of a path behind /api/v1beta1.
bool asks_an_object(const std::vector<std::string_view>& parts);

// Of such a path, with any method.
void pass_to_object(rest_services& services, const request& request, responder answer,
                    const std::vector<std::string_view>& parts);

}  // namespace troupe::server::legacy
