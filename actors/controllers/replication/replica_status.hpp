// The status of a ReplicationController or ReplicaSet, calculated from its pods (kubernetes:
// replicaset.calculateStatus). Pure.
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
  std::int32_t waiting = 0;  // active without a node
};

// Our own reason: creation is paused while this many pods wait for a node.
inline constexpr std::string_view waiting_for_nodes = "WaitingForNodes";

// The failure of the last sync; `reason` is FailedCreate, FailedDelete or waiting_for_nodes.
struct replica_failure {
  std::string reason;
  std::string message;
};

// A failure sets the condition ReplicaFailure, a sync without failure removes it. As upstream the
// first failure is kept; but waiting is not a failure, and each replaces the other.
replica_status calculate_status(const replica_status& before, const replica_counts& counts,
                                std::int64_t generation,
                                const std::optional<replica_failure>& failure, std::int64_t now);

}  // namespace troupe::actors::replication
