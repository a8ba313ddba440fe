#include "actors/nodes/zones.hpp"

#include <algorithm>

#include "actors/defaults.hpp"

namespace troupe::actors {

zone_state state_of(const zone_count& zone) {
  if (zone.ready == 0 && zone.not_ready > 0) return zone_state::down;
  const auto total = static_cast<double>(zone.ready + zone.not_ready);
  if (zone.not_ready > 2 &&
      static_cast<double>(zone.not_ready) >= defaults::unhealthy_zone_part * total) {
    return zone_state::partly_down;
  }
  return zone_state::normal;
}

bool all_down(const std::map<std::string, zone_count>& zones) {
  return !zones.empty() && std::all_of(zones.begin(), zones.end(), [](const auto& entry) {
    return state_of(entry.second) == zone_state::down;
  });
}

double eviction_rate(const zone_count& zone) {
  if (state_of(zone) != zone_state::partly_down) return defaults::node_evictions_per_second;
  const bool large = zone.ready + zone.not_ready > defaults::large_zone_nodes;
  return large ? defaults::slow_node_evictions_per_second : 0;
}

}  // namespace troupe::actors
