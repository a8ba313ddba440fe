// Labels of objects. Pure functions.
#pragma once

#include <algorithm>
#include <string>

#include "api/object/object.hpp"
#include "api/selectors/selector.hpp"

namespace troupe::actors {

// The label `name` of an object; empty if missing.
inline const std::string& label_of(const api::object& object, const std::string& name) {
  static const std::string none;
  const auto& labels = object.meta().labels();
  const auto found = labels.find(name);
  return found == labels.end() ? none : found->second;
}

inline bool same_labels(const api::label_map& a, const api::label_map& b) {
  return a.size() == b.size() && std::all_of(a.begin(), a.end(), [&](const auto& label) {
           const auto found = b.find(label.first);
           return found != b.end() && found->second == label.second;
         });
}

// The zone of a node; empty if unknown.
inline std::string zone_of(const api::object& node) {
  return label_of(node, "topology.kubernetes.io/zone");
}

}  // namespace troupe::actors
