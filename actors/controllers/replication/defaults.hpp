// The numbers of the replication controllers, with where they come from.
#pragma once

#include <chrono>
#include <cstddef>

namespace troupe::actors::replication::defaults {

using namespace std::chrono_literals;

// Pods created or deleted in one sync (kubernetes: replicaset.BurstReplicas).
inline constexpr std::size_t burst_replicas = 500;

// Pods of one controller that may wait for a node. The scheduler places about 10,000 pods a second:
// half a second of work is always there for it. Half of actors::defaults::least_pod_capacity, so
// that one controller whose pods fit nowhere leaves room for others.
inline constexpr std::size_t waiting_pods = 5'000;

// A creation for which the cluster has no room is tried again after so long, doubling; what makes
// room (a pod that ends, a node that comes) is not sent to controllers.
inline constexpr auto room_first = 100ms;
inline constexpr auto room_longest = 10s;

// After so long an expectation that nothing fulfilled is given up (controller.ExpectationsTimeout).
inline constexpr auto expectation_ttl = 5min;

// A status update that meets a conflict is tried once more (replicaset.statusUpdateRetries).
inline constexpr int status_retries = 1;

// A generated name that is taken is replaced by another, this many times
// (kubernetes: registry.generateNameRetries is 7 tries after the first).
inline constexpr int name_tries = 8;

}  // namespace troupe::actors::replication::defaults
