// What a machine and its containers use: counters as they are read, and the figures that two
// readings give. Values, and the interface of who reads them.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace troupe::actors {

// -- readings -------------------------------------------------------------------------------------

// Time since the machine was started: goes on evenly, whatever becomes of the wall clock.
using machine_time = std::chrono::nanoseconds;
inline machine_time machine_now() {
  return std::chrono::steady_clock::now().time_since_epoch();
}

struct usage_counters {
  machine_time at{0};              // when they were read
  std::uint64_t cpu_ns = 0;        // of all processors, since the beginning
  std::uint64_t memory_bytes = 0;  // now, without what the system could take back: the working set
  std::uint64_t all_memory_bytes = 0;  // with it; 0: not known
  std::uint64_t rss_bytes = 0;         // of no file; 0: not known
};

// What is left, and of how much; 0 of 0: not known.
struct supply {
  std::int64_t left = 0, all = 0;
};

struct node_supplies {
  supply memory;  // bytes
  supply disk;    // bytes of the file system with the pods' volumes and logs
  supply inodes;  // of the same
  supply pids;
};

// One attempt of a container.
struct container_counters {
  std::string pod_uid, container;
  std::string id;                            // as the pod's status has it
  std::optional<machine_time> started = {};  // when `cpu_ns` was 0; absent: not known
  usage_counters counters = {};
};

class usage_source {
 public:
  virtual ~usage_source() = default;
  // Those of all containers that run and can be measured. As all calls of a runtime: does not
  // block, answers once, from any thread, with nothing where it failed.
  virtual void read_usage(std::function<void(std::vector<container_counters>)> done) = 0;
};

// -- figures --------------------------------------------------------------------------------------

// Between two readings, and the counters of the later one.
struct usage_figure {
  std::uint64_t cpu_nano = 0;  // billionths of a processor, on average
  std::uint64_t memory_bytes = 0;
  std::chrono::nanoseconds window{0};
  std::uint64_t cpu_ns = 0, all_memory_bytes = 0, rss_bytes = 0;  // as in usage_counters
};

struct container_figure {
  std::string pod_uid, container;
  usage_figure figure;
};

// The kind of the actor that measures a machine, which has the name of its node. It answers
// `measure_usage` with `node_usage`. A node without it, a simulated one, measures nothing.
inline constexpr const char* usage_meter_kind = "usage-meter";

struct measure_usage {};

struct node_usage {
  std::string problem = {};          // why there are no figures; empty: there are
  std::chrono::milliseconds age{0};  // of the later reading
  std::optional<usage_figure> machine = {};
  std::vector<container_figure> containers = {};
  node_supplies supplies = {};
  std::chrono::nanoseconds up{0};  // of the machine, until the later reading; 0: not known
};

}  // namespace troupe::actors
