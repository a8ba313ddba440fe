// The capacity of the cluster: a mistake in one number (`replicas: 2147483647`) must not fill the
// machine's memory. A creation beyond the bound is rejected at the store, so the bound is exact.
// Existing objects stay and can be changed and removed.
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
  // 0: twice the pods that the nodes can run (`status.allocatable.pods`), at least
  // `defaults::least_pod_capacity`. Rollouts and terminating pods need more than the nodes run.
  std::uint64_t pods = 0;
  std::uint64_t objects = 0;  // of all kinds; 0: no bound
  std::uint64_t bytes = 0;    // of keys and stored forms; 0: no bound
};

class capacity {
 public:
  explicit capacity(capacity_options options) : options_{options} {}

  // Sets the capacity of all nodes together; called when it changes.
  void set_node_capacity(std::uint64_t pods) noexcept { node_pods_ = pods; }
  // The bound in force.
  std::uint64_t pods() const noexcept;

  // Adds to a transaction the bounds for its creations. Nodes and their leases are exempt from the
  // bounds of objects and bytes: a full cluster must keep running and be able to grow.
  void limit(persistence::transaction& transaction) const;

 private:
  const capacity_options options_;
  std::atomic<std::uint64_t> node_pods_{0};
};

// The pod capacity of a node; 0 if its status has none.
std::uint64_t pod_capacity_of(const api::core::v1::Node& node);
// The sum over all nodes.
std::uint64_t pod_capacity_of_nodes(const persistence::snapshot& state);

}  // namespace troupe::actors
