// Under which addresses nodes serve a Service of type LoadBalancer (k3s: servicelb). Pure.
#pragma once

#include <string>
#include <vector>

#include "api/object/object.hpp"
#include "api/schema/core_service.pb.h"

namespace troupe::actors::load_balancers {

// spec.loadBalancerClass of the services that ask for it.
inline constexpr const char* balancer_class = "troupe.io/nodes";
// In one status; clients take the first that answers.
inline constexpr std::size_t most_addresses = 100;

struct balancer_plan {
  std::vector<std::string> addresses;  // in order
  std::string problem;                 // why there are none, for an event; empty: none is wanted
};

// Whether nodes are to serve it.
bool is_balanced(const api::core::v1::Service& service);

// `services`: all of the cluster; of two with the same port the older one has it. `slices`: those
// of this service, which keeps to the nodes of its endpoints with externalTrafficPolicy Local.
balancer_plan plan_addresses(const api::object& service,
                             const std::vector<api::object_ptr>& services,
                             const std::vector<api::object_ptr>& nodes,
                             const std::vector<api::object_ptr>& slices);

}  // namespace troupe::actors::load_balancers
