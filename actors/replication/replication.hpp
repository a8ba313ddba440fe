// Where the control plane starts the replication controllers.
#pragma once

#include "actors/control_plane.hpp"

namespace troupe::actors {

// One supervisor for ReplicationControllers and ReplicaSets. `truth` outlives the actors.
runtime::actor_ref spawn_replication(runtime::system& company, const doors& to,
                                     const persistence::store& truth);

}  // namespace troupe::actors
