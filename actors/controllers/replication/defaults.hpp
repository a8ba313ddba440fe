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

// A failed sync is tried again after 5 ms, doubling up to 1000 s
// (client-go workqueue.DefaultControllerRateLimiter).
inline constexpr auto retry_first = 5ms;
inline constexpr auto retry_longest = 1000s;

// A status update that meets a conflict is tried once more (replicaset.statusUpdateRetries).
inline constexpr int status_retries = 1;

// How long the writer may take to answer before a sync counts as failed. The write may still
// happen: the controller resyncs before it continues.
inline constexpr auto write_timeout = 30s;

// How soon a controller that could not reach the writer when it started tries again.
inline constexpr auto fence_retry = 1s;

// A generated name that is taken is replaced by another, this many times
// (kubernetes: registry.generateNameRetries is 7 tries after the first).
inline constexpr int name_tries = 8;

// A full look at all pods of a controller, whatever the watcher said (level-triggered safety net).
inline constexpr auto resync_period = 10min;

}  // namespace troupe::actors::replication::defaults
