// The controller of StatefulSets: pods with stable names and own claims, managed in order.
#pragma once

#include "actors/controllers/kit/controller_type.hpp"

namespace troupe::actors::stateful_sets {

controller_type controller();

}  // namespace troupe::actors::stateful_sets
