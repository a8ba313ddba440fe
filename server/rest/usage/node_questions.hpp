// Queries nodes for their usage and that of their containers, through the control plane's usage
// collector.
#pragma once

#include <functional>
#include <set>
#include <string>

#include "actors/control_plane/control_plane.hpp"
#include "actors/kubelet/runtime/usage_questions.hpp"
#include "api/values/timestamp.hpp"

namespace troupe::server {

// Calls `done` once, on any thread, possibly in this call; it must not block. Omits nodes that do
// not measure, cannot be reached or have not replied in time.
void query_nodes(actors::control_plane& plane, const std::set<std::string>& nodes,
                 std::function<void(actors::usage_by_node)> done);

// The current time, from which the age of the figures is subtracted.
api::moment wall_now();

}  // namespace troupe::server
