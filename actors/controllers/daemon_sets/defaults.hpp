// The numbers of the DaemonSet controller, with where they come from.
#pragma once

#include <chrono>
#include <cstddef>

namespace troupe::actors::daemon_sets::defaults {

using namespace std::chrono_literals;

// Pods made in one batch, and removed in one sync. Upstream's BurstReplicas of daemon sets is 250;
// ours is that of ReplicaSets, since the next batch follows at once.
inline constexpr std::size_t burst = 500;

// A failed pod of a node is removed at once, the next one of that node after so long, doubling
// (kubernetes: daemon.NewController, failedPodsBackoff).
inline constexpr auto failed_pod_first = 1s;
inline constexpr auto failed_pod_longest = 15min;

}  // namespace troupe::actors::daemon_sets::defaults
