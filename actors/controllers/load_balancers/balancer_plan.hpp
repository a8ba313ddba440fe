// Plans the node addresses of a Service of type LoadBalancer (k3s: servicelb). Pure functions.
//
// A Service of another class is never touched. One without a class may have a status that another
// program writes (MetalLB, a cloud's controller, kubectl): its addresses are left alone until they
// are gone. A condition lists the addresses that nodes have given; others are foreign.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/object/object.hpp"
#include "api/schema/core_service.pb.h"
#include "runtime/clock.hpp"

namespace troupe::actors::load_balancers {

// The spec.loadBalancerClass of these Services.
inline constexpr const char* balancer_class = "troupe.io/nodes";
// The condition of a Service with addresses of nodes; its message lists them.
inline constexpr const char* addresses_condition = "troupe.io/NodeAddresses";
// The maximum of addresses in a status, divided between its IP families; clients use the first that
// answers.
inline constexpr std::size_t most_addresses = 100;

struct balancer_rules {
  // Serve Services without a class, unless another program has given them addresses.
  bool default_class = true;
  // Ports of the machines' own programs, such as the API: rules for them would cut these off.
  std::vector<std::int32_t> reserved_ports = {};
};

struct balancer_plan {
  // Those of the IP families of the Service, one family after the other.
  std::vector<std::string> addresses;
  std::string problem;  // why there are none, for an event; empty: none is wanted
};

// True if nodes may serve the Service: it is a load balancer of their class or of none.
bool may_be_balanced(const api::core::v1::Service& service);
// True if it is for the nodes to serve the Service; plan_addresses says whether they can.
bool is_balanced(const api::core::v1::Service& service, const balancer_rules& rules = {});

// `services`: all of the cluster; the oldest with a port gets the port. `slices`: those of this
// Service, which with externalTrafficPolicy Local uses only the nodes of its endpoints.
balancer_plan plan_addresses(const api::object& service,
                             const std::vector<api::object_ptr>& services,
                             const std::vector<api::object_ptr>& nodes,
                             const std::vector<api::object_ptr>& slices,
                             const balancer_rules& rules = {});

// True if its status has load balancer addresses or the condition.
bool has_traces(const api::core::v1::Service& service);
// Writes the planned addresses and the condition into the status. Without addresses it removes both
// but keeps foreign addresses.
void write_addresses(api::core::v1::Service& service, const std::vector<std::string>& addresses,
                     runtime::wall_time now);

}  // namespace troupe::actors::load_balancers
