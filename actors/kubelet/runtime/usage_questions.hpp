// Questions about what many nodes use, to the usage desk of the control plane
// (actors/usage/usage_desk.hpp). Values.
#pragma once

#include <map>
#include <set>
#include <string>

#include "actors/kubelet/runtime/usage.hpp"

namespace troupe::actors {

// By node; those that measure nothing, cannot be reached or have not answered in time are left out.
using usage_by_node = std::map<std::string, node_usage>;

// The kind of the desk, which is its name as well.
inline constexpr const char* usage_desk_kind = "usage-desk";

// Answered by `nodes_usage`.
struct ask_nodes {
  std::set<std::string> nodes;
};

struct nodes_usage {
  usage_by_node by_node;
};

}  // namespace troupe::actors
