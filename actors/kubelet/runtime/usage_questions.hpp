// Messages to the usage collector of the control plane (actors/usage/usage_collector.hpp), which
// asks many nodes for their usage. Values.
#pragma once

#include <map>
#include <set>
#include <string>

#include "actors/kubelet/runtime/usage.hpp"

namespace troupe::actors {

// By node name; nodes that measure nothing or did not answer in time are left out.
using usage_by_node = std::map<std::string, node_usage>;

// The kind and also the name of that actor.
inline constexpr const char* usage_collector_kind = "usage-collector";

// Answered by `nodes_usage`.
struct query_nodes {
  std::set<std::string> nodes;
};

struct nodes_usage {
  usage_by_node by_node;
};

}  // namespace troupe::actors
