// The number of pods bound to each node, reported by the supervisor of the pods' actors to the
// console, which must not scan all pods.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "persistence/store/store.hpp"

namespace troupe::actors {

// A request to supervisor/pods, answered by `pod_counts`.
struct count_pods {};

struct pod_counts {
  persistence::revision at = 0;  // the newest change of a pod that is included
  std::size_t pods = 0;          // bound or not
  std::vector<std::pair<std::string, std::size_t>> by_node;
};

}  // namespace troupe::actors
