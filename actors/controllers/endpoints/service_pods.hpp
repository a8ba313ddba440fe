// The pods of a Service: which are included and how each is reached, common to Endpoints and
// EndpointSlices (kubernetes: pkg/controller/util/endpoint). Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "actors/core/pod_health.hpp"
#include "api/object/object.hpp"
#include "api/schema/core_pod.pb.h"
#include "api/schema/core_service.pb.h"
#include "api/selectors/selector.hpp"

namespace troupe::actors::endpoints {

// True if the pod has an address and has not terminated.
bool has_address(const api::core::v1::Pod& pod);

// Its address of that family, "IPv4" or "IPv6"; empty where it has none.
std::string address_of(const api::core::v1::Pod& pod, std::string_view family);
// Of the addresses of the Service, in their order; one at least.
std::vector<std::string> families_of(const api::core::v1::Service& service);

// The port of the pod that a port of the Service leads to: a number, or the container's port of
// that name and protocol; 0 where it has none.
std::int32_t target_of(const api::core::v1::ServicePort& port, const api::core::v1::Pod& pod);
// All ports, sorted. A pod without ports is included only for a Service without ports.
std::vector<api::core::v1::EndpointPort> ports_of(const api::core::v1::Service& service,
                                                  const api::core::v1::Pod& pod);

// The pod's hostname if its subdomain is the Service; empty otherwise.
std::string hostname_behind(const api::core::v1::Service& service, const api::core::v1::Pod& pod);
api::core::v1::ObjectReference reference_to(const api::core::v1::Pod& pod);
// The Service's own labels, and the headless label if it has no address.
api::label_map labels_of(const api::core::v1::Service& service);

// The order of ports.
struct port_less {
  bool operator()(const api::core::v1::EndpointPort& a, const api::core::v1::EndpointPort& b) const;
};

}  // namespace troupe::actors::endpoints
