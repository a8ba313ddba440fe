// Labels and annotations of objects. Pure functions.
#pragma once

#include <algorithm>
#include <string>

#include "api/object/object.hpp"
#include "api/schema/meta_object.pb.h"
#include "api/selectors/selector.hpp"

namespace troupe::actors {

// Empty if missing.
inline const std::string& find_or_empty(const api::label_map& map, const std::string& name) {
  static const std::string none;
  const auto found = map.find(name);
  return found == map.end() ? none : found->second;
}

inline const std::string& label_of(const api::object& object, const std::string& name) {
  return find_or_empty(object.meta().labels(), name);
}

inline const std::string& annotation_of(const api::meta::v1::ObjectMeta& meta,
                                        const std::string& name) {
  return find_or_empty(meta.annotations(), name);
}

inline bool same_labels(const api::label_map& a, const api::label_map& b) {
  return a.size() == b.size() && std::all_of(a.begin(), a.end(), [&](const auto& label) {
           const auto found = b.find(label.first);
           return found != b.end() && found->second == label.second;
         });
}

// Label of a Node without rules for Services: a connection to it reaches no Service.
inline constexpr const char* no_service_rules = "troupe.io/no-service-rules";

// The zone of a node; empty if unknown.
inline std::string zone_of(const api::object& node) {
  return label_of(node, "topology.kubernetes.io/zone");
}

}  // namespace troupe::actors
