// Facts about the machine for the Node object; read once at start. Blocks: not for actors' threads.
#pragma once

#include <cstdint>
#include <string>

#include "actors/kubelet/runtime/container_types.hpp"
#include "api/schema/core_node.pb.h"

namespace troupe::actors {

struct node_facts {
  std::string machine_id, boot_id, kernel, os_image;
  std::string runtime_version = {};  // of the container runtime
  std::int64_t cpus = 0;
  std::int64_t memory_kib = 0;
  bool may_mount = false;  // CAP_SYS_ADMIN
};

node_facts read_node_facts();

// What pods do not get of a machine. Memory that is to be left before pods are evicted is not for
// them to ask for, but for them to use.
struct reserved_resources {
  std::int64_t milli_cpu = 0, memory_bytes = 0;
  std::int64_t eviction_memory_bytes = 0;
};

// kubernetes: cm/node_container_manager_linux.go, without the thresholds of eviction.
pods_limits limits_of_pods(const node_facts& facts, const reserved_resources& reserved);

// What is left of the capacity: allocatable. Not less than nothing.
void reserve(const reserved_resources& reserved, api::core::v1::NodeStatus& status);

// status.nodeInfo, capacity and allocatable.
void describe_machine(const node_facts& facts, int max_pods, api::core::v1::NodeStatus& status);

}  // namespace troupe::actors
