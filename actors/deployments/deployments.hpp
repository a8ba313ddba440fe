// Where the control plane starts the deployment controllers.
#pragma once

#include "actors/control_plane.hpp"

namespace troupe::actors {

// One supervisor for Deployments. `truth` outlives the actors.
runtime::actor_ref spawn_deployments(runtime::system& company, const doors& to,
                                     const persistence::store& truth);

}  // namespace troupe::actors
