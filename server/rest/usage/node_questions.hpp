// Asks nodes for their usage and that of their containers, through the usage desk of the control
// plane.
#pragma once

#include <functional>
#include <set>
#include <string>

#include "actors/control_plane/control_plane.hpp"
#include "actors/kubelet/runtime/usage_questions.hpp"
#include "api/values/timestamp.hpp"

namespace troupe::server {

// `done` runs once, on any thread, also within the call; it must not block.
// Nodes that measure nothing, cannot be reached or have not answered in time are left out.
void ask_nodes(actors::control_plane& plane, const std::set<std::string>& nodes,
               std::function<void(actors::usage_by_node)> done);

// From which the age of figures counts back.
api::moment wall_now();

}  // namespace troupe::server
