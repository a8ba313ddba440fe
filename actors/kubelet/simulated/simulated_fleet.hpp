// Starts simulated nodes: `--simulated-nodes N`.
#pragma once

#include <cstdint>
#include <string>

#include "actors/core/core_actors.hpp"
#include "actors/kubelet/simulated/simulated_minion.hpp"
#include "runtime/actor_system.hpp"

namespace troupe::actors {

struct simulated_fleet_options {
  std::uint32_t nodes = 1;
  std::string prefix = "simulated-";  // prefix of the names: simulated-0000, simulated-0001 …
  // Template of the nodes; name and number are set for each.
  simulated_node like = {};
};

// All nodes have one supervisor.
runtime::actor_ref spawn_simulated_fleet(runtime::actor_system& system, const core_actors& to,
                                         simulated_fleet_options options);

}  // namespace troupe::actors
