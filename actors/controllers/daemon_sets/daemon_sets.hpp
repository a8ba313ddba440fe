// The controller of DaemonSets: one pod on each suitable node.
#pragma once

#include "actors/controllers/kit/controller_type.hpp"

namespace troupe::actors::daemon_sets {

controller_type controller();

}  // namespace troupe::actors::daemon_sets
