// Messages to the usage desk of the control plane (actors/usage/usage_desk.hpp), which asks many
// nodes for their usage. Values.
#pragma once

#include <map>
#include <set>
#include <string>

#include "actors/kubelet/runtime/usage.hpp"

namespace troupe::actors {

// By node name; nodes that measure nothing or did not answer in time are left out.
using usage_by_node = std::map<std::string, node_usage>;

// Actor kind of the desk, which is also its name.
inline constexpr const char* usage_desk_kind = "usage-desk";

// Answered by `nodes_usage`.
struct ask_nodes {
  std::set<std::string> nodes;
};

struct nodes_usage {
  usage_by_node by_node;
};

}  // namespace troupe::actors
