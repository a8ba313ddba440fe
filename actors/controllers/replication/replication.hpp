// ReplicationControllers and ReplicaSets: as many pods as they ask for.
#pragma once

#include "actors/controllers/kit/controller_type.hpp"

namespace troupe::actors::replication {

controller_type controller();

}  // namespace troupe::actors::replication
