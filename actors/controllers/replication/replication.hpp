// Where the control plane starts the replication controllers.
#pragma once

#include "actors/core/core_actors.hpp"
#include "persistence/store/store.hpp"
#include "runtime/actor_system.hpp"

namespace troupe::actors {

// One supervisor for ReplicationControllers and ReplicaSets. `store` outlives the actors.
runtime::actor_ref spawn_replication(runtime::actor_system& system, const core_actors& core,
                                     const persistence::store& store);

}  // namespace troupe::actors
