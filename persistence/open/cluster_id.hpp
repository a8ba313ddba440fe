// The id of a new cluster.
#pragma once

#include <string>

namespace troupe::persistence {

// A random (version 4) UUID.
std::string make_cluster_id();

}  // namespace troupe::persistence
