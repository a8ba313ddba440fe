// Which zone's clients each endpoint of a Service serves, where the Service asks for topology-mode
// Auto: as many endpoints for a zone as it has of the cluster's processors, its own first
// (kubernetes: endpointslice/topologycache). Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "api/object/object.hpp"
#include "api/schema/core_service.pb.h"
#include "api/schema/discovery_v1.pb.h"

namespace troupe::actors::endpoints {

// service.kubernetes.io/topology-mode, or topology-aware-hints as it was called before 1.27.
bool wants_topology_hints(const api::core::v1::Service& service);

// Thousandths of a processor that ready nodes of each zone may give to pods, without those of the
// control plane. Empty where one of these nodes has no zone or no processor.
using zone_cpu = std::map<std::string, std::int64_t>;
zone_cpu cpu_of_zones(const std::vector<api::object_ptr>& nodes);

// The hints that endpoints had, by the uid of their pods.
using known_hints = std::map<std::string, std::string>;

// Hints all ready endpoints, or none and says why, in upstream's words. The hints of before stay as
// long as no zone has too many or too few, so that one pod more changes little.
std::string set_topology_hints(const std::vector<api::discovery::v1::Endpoint*>& endpoints,
                               const zone_cpu& zones, const known_hints& before);

}  // namespace troupe::actors::endpoints
