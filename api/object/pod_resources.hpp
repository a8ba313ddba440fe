// Exact requests and limits of a pod, for limits and quotas of namespaces, whose messages show the
// amounts as written. The scheduler uses integers instead, for speed.
//
// kubernetes: component-helpers/resource, PodRequests and PodLimits.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "api/schema/core_pod.pb.h"
#include "api/values/quantity.hpp"

namespace troupe::api {

using resource_list = std::map<std::string, quantity, std::less<>>;
using quantity_messages = google::protobuf::Map<std::string, resource::Quantity>;

// Skips invalid quantities: validation accepts none.
resource_list read_resource_list(const quantity_messages& from);
void write_resource_list(const resource_list& from, quantity_messages& into);

// Adds each amount.
void add_to(resource_list& to, const resource_list& other);

// The sum of the containers and the sidecar init containers, or the peak of the init containers if
// that is more; plus the overhead (for limits: only of resources that have a limit).
resource_list pod_requests(const core::v1::PodSpec& spec);
resource_list pod_limits(const core::v1::PodSpec& spec);

// The same for a pod that may be resized: for each container the maximum of its spec, of the node's
// allocation and of the resources in force, from the status.
resource_list held_requests(const core::v1::Pod& pod);
resource_list held_limits(const core::v1::Pod& pod);

// Guaranteed: every container has cpu and memory limits equal to its requests. BestEffort: none has
// either. Burstable: all others.
std::string_view qos_class(const core::v1::PodSpec& spec);

}  // namespace troupe::api
