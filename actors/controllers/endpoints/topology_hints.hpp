// Topology hints of the endpoints of a Service with topology-mode Auto: each zone gets endpoints in
// proportion to its share of the cluster's CPUs, its own first (kubernetes:
// endpointslice/topologycache). Pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "api/object/object.hpp"
#include "api/schema/core_service.pb.h"
#include "api/schema/discovery_v1.pb.h"

namespace troupe::actors::endpoints {

// service.kubernetes.io/topology-mode, or topology-aware-hints, its name before 1.27.
bool wants_topology_hints(const api::core::v1::Service& service);

// Allocatable millicores of each zone's ready nodes, without nodes of the control plane. Empty if
// one of these nodes has no zone or no CPUs.
using zone_cpu = std::map<std::string, std::int64_t>;
zone_cpu cpu_of_zones(const std::vector<api::object_ptr>& nodes);

// The present hints of endpoints, by the uid of their pods.
using known_hints = std::map<std::string, std::string>;

// Sets hints for all ready endpoints, or for none and returns the reason in upstream's wording.
// `before` is kept while no zone has too many or too few, so one more pod changes little.
std::string set_topology_hints(const std::vector<api::discovery::v1::Endpoint*>& endpoints,
                               const zone_cpu& zones, const known_hints& before);

}  // namespace troupe::actors::endpoints
