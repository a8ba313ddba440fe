// When a machine runs short of a resource, and which pod is evicted for it (kubernetes:
// eviction/helpers.go, eviction_manager.go). Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "actors/kubelet/defaults.hpp"
#include "actors/kubelet/pods/pod_containers.hpp"
#include "actors/kubelet/runtime/usage.hpp"
#include "api/schema/core_pod.pb.h"
#include "runtime/clock.hpp"

namespace troupe::actors {

// In the order in which shortages are handled.
enum class shortage : std::uint8_t { memory, disk, pids };

// The resource of a disk that has too few of them left.
inline constexpr const char* inodes_resource = "inodes";

// "MemoryPressure".
const char* condition_of(shortage of) noexcept;

struct eviction_thresholds {
  std::int64_t memory_bytes = kubelet_defaults::eviction_memory_bytes;
  std::int64_t disk_percent = kubelet_defaults::eviction_disk_percent;
  std::int64_t inodes_percent = kubelet_defaults::eviction_inodes_percent;  // also of the images'
  std::int64_t image_disk_percent = kubelet_defaults::eviction_image_disk_percent;
  std::int64_t pids_percent = kubelet_defaults::eviction_pids_percent;
  // Soft thresholds: pods are evicted only after they have been passed for `soft_grace`, with the
  // pod's own grace period, at most `longest_grace`. 0: none.
  std::int64_t soft_memory_bytes = 0, soft_disk_percent = 0;
  runtime::duration soft_grace{0}, longest_grace{0};
};

// A threshold that was passed.
struct passed_threshold {
  shortage of = shortage::memory;
  std::string resource = {};  // "memory", as in messages
  std::string quantity = {}, available = {};
  bool soft = false;
  node_disk disk = node_disk::pods;  // of a shortage of disk
};

// At most one for each shortage: the hard threshold if both are passed.
std::vector<passed_threshold> passed_thresholds(const node_supplies& supplies,
                                                const eviction_thresholds& thresholds);

// Remembers passed thresholds: a condition stays true for a while, so that a node that is almost
// full does not get new pods between two rounds.
class pressure_memory {
 public:
  void observe(const std::vector<passed_threshold>& passed, runtime::time_point now);
  std::set<shortage> holding(runtime::time_point now) const;
  // Whether to evict: at once, or if the threshold was passed in every round for `soft_grace`.
  bool demands_eviction(const passed_threshold& passed, runtime::duration soft_grace,
                        runtime::time_point now) const;

 private:
  std::map<shortage, runtime::time_point> last_, since_;
};

struct pod_consumption {
  std::string uid;
  std::int32_t priority = 0;
  std::int64_t used = 0, requested = 0;
  std::string name = {};       // NAMESPACE/NAME
  runtime::duration grace{0};  // the pod's own
};

// Sorts by order of eviction: pods that use more than they requested, then lower priority, then
// larger excess over the request. For process ids, which nobody requests, the priority comes first.
void rank_for_eviction(std::vector<pod_consumption>& pods, shortage of);

// Static and node-critical pods are never evicted and always admitted.
bool is_critical(const api::core::v1::Pod& pod);

// Upstream's name of the threshold: "memory.available".
const char* signal_of(const passed_threshold& passed) noexcept;

// `grace`: the grace period that a soft threshold gives the pod.
pod_failure eviction_failure(const passed_threshold& of, runtime::duration grace);

// The reason why a new pod is not admitted while the node is short of a resource; nothing if it is.
// If only memory is short, pods that request some memory or cpu are admitted.
std::optional<pod_failure> pressure_rejection(const api::core::v1::Pod& pod,
                                              const std::set<shortage>& holding);

}  // namespace troupe::actors
