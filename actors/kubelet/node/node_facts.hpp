// Facts about the machine for the Node object; read once at start. Blocks: not for actors' threads.
#pragma once

#include <cstdint>
#include <string>

#include "actors/kubelet/security/process_security.hpp"
#include "api/schema/core_node.pb.h"

namespace troupe::actors {

struct node_facts {
  std::string machine_id, boot_id, kernel, os_image;
  std::int64_t cpus = 0;
  std::int64_t memory_kib = 0;
  bool may_mount = false;  // may make mount namespaces and bind mounts (CAP_SYS_ADMIN)
  machine_rights rights = {};
};

node_facts read_node_facts();

// status.nodeInfo, capacity and allocatable.
void describe_machine(const node_facts& facts, int max_pods, api::core::v1::NodeStatus& status);

}  // namespace troupe::actors
