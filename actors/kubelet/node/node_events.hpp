// The events of a Node by what has changed in it. Pure.
#pragma once

#include <string>
#include <vector>

#include "api/schema/core_node.pb.h"

namespace troupe::actors {

struct node_event {
  bool warning = false;
  std::string reason, message;
};

// kubernetes: kubelet_node_status.go and nodestatus/setters.go. A condition that becomes Unknown is
// the control plane's, which sends its own event.
std::vector<node_event> events_of_change(const api::core::v1::Node& before,
                                         const api::core::v1::Node& now);
// Those of a kubelet that sees its Node for the first time, besides "Starting".
std::vector<node_event> events_of_start(const api::core::v1::Node& now);

}  // namespace troupe::actors
