// StatefulSets: pods with stable names and claims of their own, made and replaced in order.
#pragma once

#include "actors/controllers/kit/controller_type.hpp"

namespace troupe::actors::stateful_sets {

controller_type controller();

}  // namespace troupe::actors::stateful_sets
