// Facts about the machine for the Node object, read once at start. Blocks: not for actor threads.
#pragma once

#include <cstdint>
#include <string>

#include "actors/kubelet/runtime/container_types.hpp"
#include "api/schema/core_node.pb.h"

namespace troupe::actors {

struct node_facts {
  std::string machine_id, boot_id, kernel, os_image;
  std::int64_t cpus = 0;
  std::int64_t memory_kib = 0;
  std::int64_t disk_bytes = 0;  // of the pods' file system; read_node_facts does not know it
  bool may_mount = false;       // CAP_SYS_ADMIN
  bool app_armor = false;       // the kernel enforces profiles of AppArmor
};

node_facts read_node_facts();

// Resources of the machine that pods do not get. Pods cannot request the memory and the disk of the
// eviction thresholds, but they can use them.
struct reserved_resources {
  std::int64_t milli_cpu = 0, memory_bytes = 0;
  std::int64_t eviction_memory_bytes = 0;
  std::int64_t eviction_disk_percent = 0;
};

// kubernetes: cm/node_container_manager_linux.go, without the eviction thresholds.
pods_limits limits_of_pods(const node_facts& facts, const reserved_resources& reserved);

// Subtracts the reserved resources from capacity to get allocatable, which is at least 0.
void reserve(const reserved_resources& reserved, api::core::v1::NodeStatus& status);

// Fills in status.nodeInfo, capacity and allocatable.
void describe_machine(const node_facts& facts, int max_pods, api::core::v1::NodeStatus& status);

}  // namespace troupe::actors
