// The priority classes of every cluster (kubernetes: pkg/apis/scheduling/v1/helpers.go).
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace troupe::api {

struct system_priority {
  std::string_view name;
  std::int32_t value;
  std::string_view about;
};

inline constexpr system_priority system_priorities[] = {
    {"system-node-critical", 2'000'001'000,
     "Used for system critical pods that must not be moved from their node."},
    {"system-cluster-critical", 2'000'000'000,
     "Used for system critical pods that must run in the cluster, but can be moved to another node "
     "if necessary."},
};

// Null for any other name.
inline const system_priority* find_system_priority(std::string_view name) noexcept {
  const auto found =
      std::find_if(std::begin(system_priorities), std::end(system_priorities),
                   [name](const system_priority& each) { return each.name == name; });
  return found == std::end(system_priorities) ? nullptr : found;
}

}  // namespace troupe::api
