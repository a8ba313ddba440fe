// The controller that mirrors hand-written Endpoints to EndpointSlices, which nodes and DNS read
// (kubernetes: pkg/controller/endpointslicemirroring).
#pragma once

#include "actors/controllers/kit/controller_type.hpp"

namespace troupe::actors::slice_mirroring {

controller_type controller();

}  // namespace troupe::actors::slice_mirroring
