// The controller of Deployments: a ReplicaSet for each version of the pod template.
#pragma once

#include "actors/controllers/kit/controller_type.hpp"

namespace troupe::actors::deployments {

controller_type controller();

}  // namespace troupe::actors::deployments
