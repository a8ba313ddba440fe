// Requests and limits of a pod, exactly: for limits and quotas of namespaces, whose
// messages show the amounts as they were written. The scheduler has integers of its own for speed.
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

// Texts that are no quantities are left out: validation lets none through.
resource_list read_resource_list(const quantity_messages& from);
void write_resource_list(const resource_list& from, quantity_messages& into);

// Adds each amount.
void add_to(resource_list& to, const resource_list& other);

// The sum of the containers and of those init containers that stay, or what the init containers
// take where that is more; and the overhead, for limits of those resources only that have a limit.
resource_list pod_requests(const core::v1::PodSpec& spec);
resource_list pod_limits(const core::v1::PodSpec& spec);

// The same of a pod that may be resized: of each container the larger of what it asks for, what its
// node has set aside and what is in force, as the status says.
resource_list held_requests(const core::v1::Pod& pod);
resource_list held_limits(const core::v1::Pod& pod);

// Guaranteed: every container has cpu and memory limits that equal its requests. BestEffort: none
// has either. Burstable: the rest.
std::string_view qos_class(const core::v1::PodSpec& spec);

}  // namespace troupe::api
