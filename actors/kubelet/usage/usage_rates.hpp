// Computes usage figures from the counters of two readings. Pure.
#pragma once

#include <optional>
#include <vector>

#include "actors/kubelet/runtime/usage.hpp"

namespace troupe::actors {

struct usage_reading {
  std::optional<usage_counters> machine = {};
  std::vector<container_counters> containers = {};
  node_supplies supplies = {};
  std::vector<network_counters> networks = {};
  bool systemd_groups = false;
};

// Returns nothing if the readings are too close together
// (`kubelet_defaults::usage_shortest_window`), or if the counter was reset.
std::optional<resource_usage> usage_between(const usage_counters& before,
                                            const usage_counters& now);

// The figures of everything in the newer reading. A container that is not in the older one counts
// from its start, if that is known (metrics-server: pkg/storage/pod.go). Unknown figures are left
// out. `problem` and `age` stay empty.
node_usage usage_between(const usage_reading& before, const usage_reading& now);

}  // namespace troupe::actors
