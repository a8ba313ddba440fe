// Facts about the machine for the Node object; read once at start. Blocks: not for actors' threads.
#pragma once

#include <cstdint>
#include <string>

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

// What pods do not get of a machine.
struct reserved_resources {
  std::int64_t milli_cpu = 0, memory_bytes = 0;
};

// What is left of the capacity: allocatable. Not less than nothing.
void reserve(const reserved_resources& reserved, api::core::v1::NodeStatus& status);

// status.nodeInfo, capacity and allocatable.
void describe_machine(const node_facts& facts, int max_pods, api::core::v1::NodeStatus& status);

}  // namespace troupe::actors
