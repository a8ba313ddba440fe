// Initial fields of every new pod besides its defaults.
#pragma once

#include "api/schema/core_pod.pb.h"

namespace troupe::api {

// Status Pending with its QoS class, and the condition of a pod with scheduling gates.
void initialize_pod(core::v1::Pod& pod);

}  // namespace troupe::api
