// The constants of the DaemonSet controller with their sources.
#pragma once

#include <chrono>
#include <cstddef>

namespace troupe::actors::daemon_sets::defaults {

using namespace std::chrono_literals;

// Pods created in one batch, and deleted in one sync. Upstream's BurstReplicas of daemon sets is
// 250; ours is that of ReplicaSets because the next batch follows at once.
inline constexpr std::size_t burst = 500;

// The first failed pod of a node is deleted at once, the next one after this pause, which doubles
// (kubernetes: daemon.NewController, failedPodsBackoff).
inline constexpr auto failed_pod_first = 1s;
inline constexpr auto failed_pod_longest = 15min;

}  // namespace troupe::actors::daemon_sets::defaults
