// The arguments of all plugins of a profile, initialized with their defaults (kubernetes:
// kubescheduler.config.k8s.io/v1, *Args).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "actors/scheduler/framework/defaults.hpp"
#include "actors/scheduler/framework/pod_info.hpp"

namespace troupe::actors::scheduler {

struct weighted_resource {
  std::string name;
  std::int64_t weight = 1;
};

enum class scoring_strategy : std::uint8_t { least_allocated, most_allocated, by_utilization };

// A used percentage of a resource, and the score from 0 to max_score at this point.
struct utilization_point {
  std::int64_t utilization = 0;
  std::int64_t score = 0;
};

struct plugin_arguments {
  // -- NodeResourcesFit: extended resources that are not checked, by name or by prefix ---
  std::vector<std::string> ignored_resources, ignored_resource_groups;
  scoring_strategy strategy = scoring_strategy::least_allocated;
  std::vector<weighted_resource> scored_resources{{"cpu"}, {"memory"}};
  std::vector<utilization_point> shape;  // of by_utilization, in order

  // -- NodeResourcesBalancedAllocation ---
  std::vector<weighted_resource> balanced_resources{{"cpu"}, {"memory"}};

  // -- InterPodAffinity ---
  std::int64_t hard_pod_affinity_weight = 1;
  bool ignore_preferred_terms_of_existing_pods = false;

  // -- NodeAffinity: applies in addition to the pod's own ---
  node_preferences added_affinity;

  // -- PodTopologySpread; nothing: upstream's default constraints ---
  std::optional<std::vector<spread_constraint>> default_constraints;

  // -- DefaultPreemption ---
  std::size_t min_candidates_percent = defaults::min_candidates_percent;
  std::size_t min_candidates = defaults::min_candidates;

  // -- VolumeBinding: timeout for a pod's volumes after a node was chosen ---
  std::chrono::seconds volume_timeout = defaults::volume_timeout;
};

}  // namespace troupe::actors::scheduler
