// The summary of a pod for its controller: the few facts that its decisions need, read once for
// each event of the pod, so that thousands of pods can be counted and ranked without reading their
// bodies.
#pragma once

#include <cstdint>
#include <string>

#include "api/object/object.hpp"

namespace troupe::api::core::v1 {
class Pod;
}

namespace troupe::actors::replication {

// In the order of deletion, which is upstream's: Pending first, then Unknown.
enum class pod_phase : std::uint8_t { pending, unknown, running, succeeded, failed };

// Times are in seconds since the epoch; 0: never.
struct pod_record {
  api::object_ptr pod;
  pod_phase phase = pod_phase::pending;
  bool deleting = false;  // has a deletionTimestamp
  bool assigned = false;  // has a node
  bool ready = false;     // condition Ready is True
  std::int64_t ready_since = 0;
  std::int64_t created = 0;
  std::int32_t restarts = 0;          // of the container that restarted most
  std::int32_t sidecar_restarts = 0;  // of the sidecar that restarted most
  std::int32_t deletion_cost = 0;     // annotation controller.kubernetes.io/pod-deletion-cost

  // True if the pod counts as a replica: not finished and not being deleted.
  bool active() const noexcept {
    return !deleting && phase != pod_phase::succeeded && phase != pod_phase::failed;
  }

  const std::string& uid() const;
  const std::string& node() const;
  const api::core::v1::Pod& body() const;
};

pod_record read_pod(api::object_ptr pod);

}  // namespace troupe::actors::replication
