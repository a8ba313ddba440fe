// The controller of PodDisruptionBudgets: says in the status of each how many of its pods may be
// evicted now. Evictions take one off in the transaction that begins the deletion
// (actors/write/eviction.hpp), so that a budget holds between two syncs as well.
#pragma once

#include "actors/controllers/kit/controller_type.hpp"

namespace troupe::actors::disruption {

controller_type controller();

}  // namespace troupe::actors::disruption
