// Plans the node addresses of a Service of type LoadBalancer (k3s: servicelb). Pure functions.
#pragma once

#include <string>
#include <vector>

#include "api/object/object.hpp"
#include "api/schema/core_service.pb.h"

namespace troupe::actors::load_balancers {

// The spec.loadBalancerClass of these Services.
inline constexpr const char* balancer_class = "troupe.io/nodes";
// The maximum of addresses in a status, divided between its IP families; clients use the first that
// answers.
inline constexpr std::size_t most_addresses = 100;

struct balancer_plan {
  // Those of the IP families of the Service, one family after the other.
  std::vector<std::string> addresses;
  std::string problem;  // why there are none, for an event; empty: none is wanted
};

// True if nodes serve the Service.
bool is_balanced(const api::core::v1::Service& service);

// `services`: all of the cluster; the oldest with a port gets the port. `slices`: those of this
// Service, which with externalTrafficPolicy Local uses only the nodes of its endpoints.
balancer_plan plan_addresses(const api::object& service,
                             const std::vector<api::object_ptr>& services,
                             const std::vector<api::object_ptr>& nodes,
                             const std::vector<api::object_ptr>& slices);

}  // namespace troupe::actors::load_balancers
