// The controller of Services with a selector: writes an Endpoints object of the same name, and
// EndpointSlices, with the addresses of the selected pods (kubernetes: pkg/controller/endpoint and
// endpointslice).
#pragma once

#include "actors/controllers/kit/controller_type.hpp"

namespace troupe::actors::endpoints {

controller_type controller();

}  // namespace troupe::actors::endpoints
