// The controllers of the control plane: a new one is a folder next to this file and one line in
// registry.cpp. The control plane starts them, the console and the metrics list them, from here.
#pragma once

#include <vector>

#include "actors/controllers/kit/controller_type.hpp"

namespace troupe::actors {

// In the order in which they are started. Names and kinds of actors are unique.
const std::vector<controller_type>& known_controllers();

}  // namespace troupe::actors
