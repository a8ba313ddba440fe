// The controllers of ReplicationControllers and ReplicaSets.
#pragma once

#include "actors/controllers/kit/controller_type.hpp"

namespace troupe::actors::replication {

controller_type controller();

}  // namespace troupe::actors::replication
