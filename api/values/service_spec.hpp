// A question that several rooms ask of the spec of a Service.
#pragma once

#include "api/schema/core_service.pb.h"

namespace troupe::api {

// A Service without an address of its own.
inline bool is_headless(const core::v1::ServiceSpec& spec) {
  return spec.cluster_ip() == "None";
}

}  // namespace troupe::api
