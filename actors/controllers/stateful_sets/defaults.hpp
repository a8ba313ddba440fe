// The constants of the StatefulSet controller with their sources.
#pragma once

#include <cstddef>

namespace troupe::actors::stateful_sets::defaults {

// Pods created in one sync. Upstream has no bound (slowStartBatch over all pods); ours is that of
// ReplicaSets (kubernetes: replicaset.BurstReplicas).
inline constexpr std::size_t burst = 500;

}  // namespace troupe::actors::stateful_sets::defaults
