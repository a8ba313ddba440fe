// Plans the pods of a DaemonSet's nodes (kubernetes: pkg/controller/daemon: podsShouldBeOnNode,
// rollingUpdate). Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "actors/controllers/daemon_sets/daemon_pod.hpp"

namespace troupe::actors::daemon_sets {

struct daemon_pod {
  std::string key;
  std::int64_t created = 0;  // seconds since the epoch
  bool current = false;      // of the current revision
  bool failed = false, succeeded = false;
  bool terminating = false;
  bool ready = false, available = false;
};

struct daemon_node {
  std::string name;
  node_fit fit;
  std::vector<daemon_pod> pods;  // oldest first
};

struct daemon_rules {
  bool rolling = true;                      // not OnDelete
  std::int32_t unavailable = 1, surge = 0;  // one of them is 0
};

struct daemon_plan {
  bool create = false;
  std::vector<std::string> remove;  // keys
  std::vector<std::string> ended;   // failed or succeeded: to be deleted, failed ones with back-off
};

// Plans one node independently of the others.
daemon_plan plan_node(const daemon_node& node, const daemon_rules& rules);

struct rolling_plan {
  std::vector<std::string> create;  // nodes that get a new pod beside the old one
  std::vector<std::string> remove;  // keys
};

// Chooses the outdated pods to replace now: all unavailable ones, and as many available ones as the
// rules allow.
rolling_plan plan_rolling(const std::vector<daemon_node>& nodes, const daemon_rules& rules);

struct daemon_counts {
  std::int32_t desired = 0, current = 0, misscheduled = 0, ready = 0, available = 0, updated = 0;
};
daemon_counts count_nodes(const std::vector<daemon_node>& nodes);

}  // namespace troupe::actors::daemon_sets
