// The parts of a machine that has joined a cluster: its kubelet or simulated minion, and the link
// to the control plane. The process around it is join_process.hpp.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "config/fwd.hpp"
#include "tools/join/credentials.hpp"
#include "tools/node/node_parts.hpp"

namespace troupe::tools {

struct joined_node_options {
  // Returns the newest ones; thread safe. The names and addresses in them never change.
  std::function<joined_credentials()> credentials;
  // Called when the link is established. All these are called on any thread and must not block.
  std::function<void()> linked;
  // Called when an attempt failed or a session ended; the link keeps retrying.
  std::function<void(const std::string& reason)> unlinked;
  // The control plane refuses this node permanently: it was removed, or has left.
  std::function<void(const std::string& reason)> node_removed;
  // Called with the current control planes, in the form of `joined_credentials::control_planes`.
  std::function<void(const std::string& control_planes)> learned = {};
};

// start() returns when the node runs, linked or not, with the address of the link. The
// configuration must outlive the parts.
std::unique_ptr<node_parts> compose_joined(const config::node_config& config,
                                           joined_node_options options);

}  // namespace troupe::tools
