// The constants of the horizontal pod autoscaler with their sources.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace troupe::actors::autoscaling::defaults {

using namespace std::chrono_literals;

// The period between two syncs (kube-controller-manager
// --horizontal-pod-autoscaler-sync-period).
inline constexpr auto sync_period = 15s;
// The period of the check whether another autoscaler selects the same pods; it compares all of the
// namespace. A new autoscaler compares in its first sync, in which it does not act.
inline constexpr auto comparison_period = 60s;
// Ratios of usage to target this close to 1 change nothing (--horizontal-pod-autoscaler-tolerance).
inline constexpr double tolerance = 0.1;
// The time after a pod's start in which its CPU usage may be ignored
// (--horizontal-pod-autoscaler-cpu-initialization-period).
inline constexpr std::int64_t cpu_initialization_seconds = 300;
// A pod whose readiness has not changed later than this after its start was never ready
// (--horizontal-pod-autoscaler-initial-readiness-delay).
inline constexpr std::int64_t initial_readiness_seconds = 30;
// The default scale-down window: the highest recommendation in it applies
// (--horizontal-pod-autoscaler-downscale-stabilization).
inline constexpr auto downscale_window = 300s;
// Without a behavior one step at most doubles the pods, or goes to 4 (kubernetes:
// podautoscaler.scaleUpLimitFactor, scaleUpLimitMinimum).
inline constexpr double scale_up_factor = 2;
inline constexpr std::int32_t scale_up_minimum = 4;

// Recommendations that are kept: more than fit in the longest window (3600 s).
inline constexpr std::size_t recommendations = 512;
// Timeout of usage queries to nodes; nodes without an answer are left out.
inline constexpr auto usage_wait = 5s;

}  // namespace troupe::actors::autoscaling::defaults
