// The constants of the replication controllers with their sources.
#pragma once

#include <chrono>
#include <cstddef>

namespace troupe::actors::replication::defaults {

using namespace std::chrono_literals;

// Pods created or deleted in one sync (kubernetes: replicaset.BurstReplicas).
inline constexpr std::size_t burst_replicas = 500;

// The maximum of pods of one controller that wait for a node. At 10,000 bindings a second
// the scheduler always has half a second of work. Half of
// actors::defaults::least_pod_capacity, so that a controller with unschedulable pods leaves
// room for others.
inline constexpr std::size_t waiting_pods = 5'000;

// The pause before a creation that exceeded the cluster's capacity is retried; it doubles.
// Controllers get no event when capacity becomes free (a pod ends, a node joins).
inline constexpr auto room_first = 100ms;
inline constexpr auto room_longest = 10s;

// An unfulfilled expectation is dropped after this time (controller.ExpectationsTimeout).
inline constexpr auto expectation_ttl = 5min;

// Retries of a status update after a conflict (replicaset.statusUpdateRetries).
inline constexpr int status_retries = 1;

// Attempts with generated names (kubernetes: registry.generateNameRetries is 7 retries after the
// first attempt).
inline constexpr int name_tries = 8;

}  // namespace troupe::actors::replication::defaults
