// Eviction rates for pods of failing nodes: lower if many nodes of a zone fail, because then the
// cause is more likely the network than the nodes. Pure.
//
// kubernetes: pkg/controller/nodelifecycle, ComputeZoneState and handleDisruption.
#pragma once

#include <cstddef>
#include <map>
#include <string>

namespace troupe::actors {

struct zone_count {
  std::size_t ready = 0;
  std::size_t not_ready = 0;
};

enum class zone_state { normal, partly_down, down };

zone_state state_of(const zone_count& zone);

// Whether no zone has a ready node: then no pods are evicted, and permissions are
// revoked.
bool all_down(const std::map<std::string, zone_count>& zones);

// Nodes per second that may be evicted in a zone of a cluster that is not all down.
double eviction_rate(const zone_count& zone);

}  // namespace troupe::actors
