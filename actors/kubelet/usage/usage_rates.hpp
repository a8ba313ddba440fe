// From counters to figures: what was used between two readings. Pure.
#pragma once

#include <optional>
#include <vector>

#include "actors/kubelet/runtime/usage.hpp"

namespace troupe::actors {

struct usage_reading {
  std::optional<usage_counters> machine = {};
  std::vector<container_counters> containers = {};
  node_supplies supplies = {};
};

// Nothing where the readings are too close together (`kubelet_defaults::usage_shortest_window`), or
// the counter is another one that has begun again.
std::optional<usage_figure> usage_between(const usage_counters& before, const usage_counters& now);

// The figures of all that was read now. What was not read before counts from its start, where that
// is known: a container that began meanwhile (metrics-server: pkg/storage/pod.go). What cannot be
// told is left out. `problem` and `age` stay empty.
node_usage usage_between(const usage_reading& before, const usage_reading& now);

}  // namespace troupe::actors
