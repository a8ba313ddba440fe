// Fields that every new pod gets besides its defaults.
#pragma once

#include <string_view>

#include "api/schema/core_pod.pb.h"

namespace troupe::api {

// Guaranteed: every container has cpu and memory limits that equal its requests. BestEffort: none
// has either. Burstable: the rest.
std::string_view qos_class(const core::v1::PodSpec& spec);

// Status Pending with its QoS class, and the condition of a gated pod.
void initialize_pod(core::v1::Pod& pod);

}  // namespace troupe::api
