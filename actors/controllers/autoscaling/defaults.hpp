// The numbers of the horizontal pod autoscaler, with where they come from.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace troupe::actors::autoscaling::defaults {

using namespace std::chrono_literals;

// Between two looks at what is measured
// (kube-controller-manager --horizontal-pod-autoscaler-sync-period).
inline constexpr auto sync_period = 15s;
// A ratio of usage to target so near to 1 changes nothing (--horizontal-pod-autoscaler-tolerance).
inline constexpr double tolerance = 0.1;
// How long the processor time of a pod that starts may count for nothing
// (--horizontal-pod-autoscaler-cpu-initialization-period).
inline constexpr std::int64_t cpu_initialization_seconds = 300;
// A pod whose readiness has not changed since so long after its start has never been ready
// (--horizontal-pod-autoscaler-initial-readiness-delay).
inline constexpr std::int64_t initial_readiness_seconds = 30;
// Without a window in the spec, the highest recommendation of so long counts on the way down
// (--horizontal-pod-autoscaler-downscale-stabilization).
inline constexpr auto downscale_window = 300s;
// Without a behavior, one step goes at most to twice the pods, or to 4
// (kubernetes: podautoscaler.scaleUpLimitFactor, scaleUpLimitMinimum).
inline constexpr double scale_up_factor = 2;
inline constexpr std::int32_t scale_up_minimum = 4;

// Recommendations that are remembered: more than the longest window (3600 s) has of them.
inline constexpr std::size_t recommendations = 512;
// Nodes are asked for what they use; those without an answer by then are left out.
inline constexpr auto usage_wait = 5s;

}  // namespace troupe::actors::autoscaling::defaults
