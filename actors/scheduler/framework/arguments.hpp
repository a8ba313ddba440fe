// What a configuration may say to the plugins of a profile: the arguments of all of them, with the
// values that they have when it says nothing (kubernetes: kubescheduler.config.k8s.io/v1, *Args).
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

// Percent of a resource that is used, and the score from 0 to max_score at that point.
struct utilization_point {
  std::int64_t utilization = 0;
  std::int64_t score = 0;
};

struct plugin_arguments {
  // -- NodeResourcesFit: extended resources that nodes need not have, by name or by prefix ---
  std::vector<std::string> ignored_resources, ignored_resource_groups;
  scoring_strategy strategy = scoring_strategy::least_allocated;
  std::vector<weighted_resource> scored_resources{{"cpu"}, {"memory"}};
  std::vector<utilization_point> shape;  // of by_utilization, in order

  // -- NodeResourcesBalancedAllocation ---
  std::vector<weighted_resource> balanced_resources{{"cpu"}, {"memory"}};

  // -- InterPodAffinity ---
  std::int64_t hard_pod_affinity_weight = 1;
  bool ignore_preferred_terms_of_existing_pods = false;

  // -- NodeAffinity: holds besides the pod's own ---
  node_preferences added_affinity;

  // -- PodTopologySpread; absent: upstream's own constraints ---
  std::optional<std::vector<spread_constraint>> default_constraints;

  // -- DefaultPreemption ---
  std::size_t min_candidates_percent = defaults::min_candidates_percent;
  std::size_t min_candidates = defaults::min_candidates;

  // -- VolumeBinding: how long a pod waits for its volumes, once it has a node ---
  std::chrono::seconds volume_timeout = defaults::volume_timeout;
};

}  // namespace troupe::actors::scheduler
