// The controller of PodDisruptionBudgets: reports in each status how many pods may be evicted now.
// An eviction decrements it in the transaction that starts the deletion
// (actors/write/eviction.hpp), so a budget also holds between two syncs.
#pragma once

#include "actors/controllers/kit/controller_type.hpp"

namespace troupe::actors::disruption {

controller_type controller();

}  // namespace troupe::actors::disruption
