// Nodes in a test cluster, and the heartbeats that a kubelet would send for them. Pods and other
// objects in their shortest valid form.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "api/schema/core_node.pb.h"
#include "api/schema/core_pod.pb.h"
#include "support/cluster.hpp"

namespace troupe::test {

// A valid pod in the namespace "default", bound to `node` unless that is empty.
api::core::v1::Pod pod_named(const std::string& name, const std::string& node = {});

// Creates a node that is Ready.
api::object_ptr add_node(cluster& c, const std::string& name);

// Posts the condition Ready with a fresh heartbeat.
void post_ready(cluster& c, const std::string& node, const std::string& status);

// Renews the node's lease.
void renew_lease(cluster& c, const std::string& node);

// Moves time by `length`, renewing the leases every 10 s.
void keep_alive(cluster& c, const std::vector<std::string>& nodes, std::chrono::seconds length);

}  // namespace troupe::test
