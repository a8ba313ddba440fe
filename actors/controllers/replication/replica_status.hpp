// The status of a ReplicationController or ReplicaSet, computed from its pods
// (kubernetes: replicaset.calculateStatus). Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::actors::replication {

struct replica_condition {
  std::string type;  // "ReplicaFailure"
  std::string status;
  std::string reason;
  std::string message;
  std::int64_t since = 0;  // lastTransitionTime, seconds since the epoch

  friend bool operator==(const replica_condition&, const replica_condition&) = default;
};

struct replica_status {
  std::int32_t replicas = 0;
  std::int32_t fully_labeled = 0;
  std::int32_t ready = 0;
  std::int32_t available = 0;
  std::int64_t observed_generation = 0;
  std::vector<replica_condition> conditions;

  friend bool operator==(const replica_status&, const replica_status&) = default;
};

// The counts of the controller's pods.
struct replica_counts {
  std::int32_t active = 0;
  std::int32_t fully_labeled = 0;
  std::int32_t ready = 0;
  std::int32_t available = 0;
  std::int32_t waiting = 0;  // active, and without a node
};

// Our own: no more pods are made while so many wait for a node.
inline constexpr std::string_view waiting_for_nodes = "WaitingForNodes";

// The failure of the last sync; `reason` is FailedCreate or FailedDelete, or waiting_for_nodes.
struct replica_failure {
  std::string reason;
  std::string message;
};

// The condition ReplicaFailure is set by a failure and removed by a sync without one. The first
// failure stays, as upstream; but waiting is no failure, and either takes the place of the other.
replica_status calculate_status(const replica_status& before, const replica_counts& counts,
                                std::int64_t generation,
                                const std::optional<replica_failure>& failure, std::int64_t now);

}  // namespace troupe::actors::replication
