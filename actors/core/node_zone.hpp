// Where a node stands.
#pragma once

#include <string>

#include "api/object/object.hpp"

namespace troupe::actors {

// Of its label topology.kubernetes.io/zone; empty: nobody has said.
inline std::string zone_of(const api::object& node) {
  const auto& labels = node.meta().labels();
  const auto found = labels.find("topology.kubernetes.io/zone");
  return found == labels.end() ? std::string{} : found->second;
}

}  // namespace troupe::actors
