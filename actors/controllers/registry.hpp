// The registry of controllers: a new controller is a folder next to this file and one line in
// controllers.def. The control plane starts them from here; the console and the metrics list them.
#pragma once

#include <vector>

#include "actors/controllers/kit/controller_type.hpp"

namespace troupe::actors {

// In the order of their start. Names and actor kinds are unique.
const std::vector<controller_type>& known_controllers();

}  // namespace troupe::actors
