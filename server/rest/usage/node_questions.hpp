// Asks nodes for the usage of their containers: that of this control plane through its own meter,
// joined ones over their links.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "actors/control_plane/control_plane.hpp"
#include "actors/kubelet/runtime/usage.hpp"

namespace troupe::server {

// By node; those that measure nothing, cannot be reached, or have not answered within
// `defaults::usage_wait` are left out.
using usage_by_node = std::map<std::string, actors::node_usage>;

// All at once. `done` runs once, on any thread, also within the call; it must not block.
void ask_nodes(actors::control_plane& plane, const std::set<std::string>& nodes,
               std::function<void(usage_by_node)> done);

}  // namespace troupe::server
