// The zone of a node.
#pragma once

#include <string>

#include "api/object/object.hpp"

namespace troupe::actors {

// Reads the label topology.kubernetes.io/zone; returns an empty string if it is missing.
inline std::string zone_of(const api::object& node) {
  const auto& labels = node.meta().labels();
  const auto found = labels.find("topology.kubernetes.io/zone");
  return found == labels.end() ? std::string{} : found->second;
}

}  // namespace troupe::actors
