// DaemonSets: one pod on each node that fits.
#pragma once

#include "actors/controllers/kit/controller_type.hpp"

namespace troupe::actors::daemon_sets {

controller_type controller();

}  // namespace troupe::actors::daemon_sets
