// Resource usage of a machine and its containers: counters, and the rates computed from two
// readings. Values, and the interface of the reader.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "api/object/object.hpp"

namespace troupe::actors {

// -- readings -------------------------------------------------------------------------------------

// Time since the machine started: monotonic, independent of the wall clock.
using machine_time = std::chrono::nanoseconds;
inline machine_time machine_now() {
  return std::chrono::steady_clock::now().time_since_epoch();
}

struct usage_counters {
  machine_time at{0};                  // when they were read
  std::uint64_t cpu_ns = 0;            // of all processors, since the start
  std::uint64_t memory_bytes = 0;      // current working set: without reclaimable memory
  std::uint64_t all_memory_bytes = 0;  // with reclaimable memory; 0: unknown
  std::uint64_t rss_bytes = 0;         // anonymous memory; 0: unknown
};

// The remaining and the total amount; 0 of 0: unknown.
struct supply {
  std::int64_t left = 0, all = 0;
};

struct node_supplies {
  supply memory;  // bytes
  supply disk;    // bytes of the file system with the pods' volumes and logs
  supply inodes;  // of the same file system
  supply pids;
  // The same of the file system with images and the writable layers of containers, if it is another
  // one.
  supply images = {}, image_inodes = {};
};

// A disk of a machine: the one with the pods' volumes and logs, or that of the images, if it is
// another one.
enum class node_disk : std::uint8_t { pods, images };

// One attempt of a container.
struct container_counters {
  std::string pod_uid, container;
  std::string id;                            // as in the pod's status
  std::optional<machine_time> started = {};  // when `cpu_ns` was 0; absent: unknown
  usage_counters counters = {};
};

// The counters of a pod's network device, as the pod sees them, since its sandbox was made.
struct network_counters {
  std::string address = {};  // IPv4, of the pod
  std::uint64_t rx_bytes = 0, rx_packets = 0, rx_errors = 0, rx_dropped = 0;
  std::uint64_t tx_bytes = 0, tx_packets = 0, tx_errors = 0, tx_dropped = 0;
};

// The writable layer of a container's newest attempt.
struct layer_usage {
  std::string pod_uid = {}, container = {};
  std::int64_t bytes = 0, files = 0;
  bool apart = false;  // on another disk than the kubelet's directory
};

class usage_source {
 public:
  virtual ~usage_source() = default;
  // Whether the control groups of pods are systemd's units.
  virtual bool has_systemd_groups() const { return false; }
  // Reads the counters of all running containers that can be measured. Like all calls of a runtime:
  // does not block, answers once, on any thread, with an empty list if it failed.
  virtual void read_usage(std::function<void(std::vector<container_counters>)> done) = 0;
  // Measures the writable layers of a pod's containers, or of all pods if `pod_uid` is empty; none
  // if the runtime has no such layers. Answers as above.
  virtual void read_layers(const std::string&, std::function<void(std::vector<layer_usage>)> done) {
    done({});
  }
  // Counts the processes and threads of each pod; 0: unknown. Answers as above.
  virtual void count_processes(std::vector<api::object_ptr> pods,
                               std::function<void(std::vector<std::int64_t>)> done) {
    done(std::vector<std::int64_t>(pods.size()));
  }
};

// -- figures --------------------------------------------------------------------------------------

// The rate between two readings, and the counters of the later one.
struct resource_usage {
  std::uint64_t cpu_nano = 0;  // billionths of a processor, on average
  std::uint64_t memory_bytes = 0;
  std::chrono::nanoseconds window{0};
  std::uint64_t cpu_ns = 0, all_memory_bytes = 0, rss_bytes = 0;  // as in usage_counters
};

struct container_figure {
  std::string pod_uid, container;
  resource_usage figure;
};

// Actor kind of the usage meter, whose name is that of its node. It answers `measure_usage` with
// `node_usage`. A node without a meter, like a simulated one, measures nothing.
inline constexpr const char* usage_meter_kind = "usage-meter";

struct measure_usage {};

struct node_usage {
  std::string problem = {};          // why there are no figures; empty: there are figures
  std::chrono::milliseconds age{0};  // of the later reading
  std::optional<resource_usage> machine = {};
  std::vector<container_figure> containers = {};
  node_supplies supplies = {};
  std::chrono::nanoseconds up{0};  // uptime at the later reading; 0: unknown
  std::vector<network_counters> networks = {};
  bool systemd_groups = false;  // the control groups of pods are systemd's units
};

}  // namespace troupe::actors
