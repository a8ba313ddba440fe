// How much the cluster may hold: a mistake in one number (`replicas: 2147483647`) must not fill the
// memory of the machine. What would be too much is refused where it enters the store, so the bound
// is exact; what is there stays, and can be changed and removed.
//
// Shared by the writer and the control plane; thread safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "persistence/store/store.hpp"

namespace troupe::api::core::v1 {
class Node;
}

namespace troupe::actors {

struct capacity_options {
  // 0: twice what the nodes take (`status.allocatable.pods`), and at least
  // `defaults::least_pod_capacity`. A rollout and pods that end need more than what the nodes take.
  std::uint64_t pods = 0;
  std::uint64_t objects = 0;  // of all kinds; 0: no bound
  std::uint64_t bytes = 0;    // of keys and stored forms; 0: no bound
};

class capacity {
 public:
  explicit capacity(capacity_options options) : options_{options} {}

  // The capacity of all nodes together, whenever that changes.
  void nodes_take(std::uint64_t pods) noexcept { node_pods_ = pods; }
  // The bound that is in force.
  std::uint64_t pods() const noexcept;

  // Adds to a transaction the bounds that its creations must keep. Nodes and their leases are made
  // whatever the bounds of objects and bytes say: a full cluster must be able to go on and to grow.
  void limit(persistence::transaction& transaction) const;

 private:
  const capacity_options options_;
  std::atomic<std::uint64_t> node_pods_{0};
};

// The capacity of a node; 0 where it does not say.
std::uint64_t pods_taken_by(const api::core::v1::Node& node);
// The capacity of all of them.
std::uint64_t pods_taken_by_nodes(const persistence::snapshot& state);

}  // namespace troupe::actors
