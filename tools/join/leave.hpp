// Makes a node leave its cluster: evicts its pods and waits until they end, deletes its Node and
// Lease, ends its process and removes its credentials. Each step can be repeated; an interrupted
// run continues where it stopped.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <tl/expected.hpp>

#include "tools/client/cluster_client.hpp"
#include "tools/join/defaults.hpp"

namespace troupe::tools {

struct leave_options {
  std::filesystem::path data_dir;
  std::chrono::milliseconds timeout = join_defaults::leave_timeout;
  // Waits neither for pods nor for a control plane that cannot be reached.
  bool force = false;
};

// Whether the data dir belongs to a control plane of any kind.
bool is_control_plane(const std::filesystem::path& data_dir);
// As `leave`: evicts its pods; its process ends, resigns as leader and removes its record; another
// control plane deletes its Node; its keys and its copy of the state are removed. The last control
// plane cannot leave.
tl::expected<void, std::string> leave_as_control_plane(
    const leave_options& options, const std::function<void(const std::string&)>& progress);

// The part of `leave` that nodes and control planes share.
struct leave_state {
  bool gone = false;
  std::string left;  // number of remaining pods
  std::string pods;  // their names
};
struct leave_problem {
  bool unreachable = false;
  std::string message;
};
tl::expected<leave_state, leave_problem> request_leave(cluster_client& to, const std::string& node,
                                                       bool at_once);
// `reported`: the control plane has released the node, whose process therefore ends by itself.
tl::expected<void, std::string> end_process(const leave_options& options, bool reported);
// Ends the pods that are left in the kubelet's root directory and removes their files.
tl::expected<void, std::string> end_pods(const std::filesystem::path& root_dir);

// Reports to `progress`, a line now and then. The error is one line: the obstacle and the remedy;
// the node stays cordoned.
tl::expected<void, std::string> leave(const leave_options& options,
                                      const std::function<void(const std::string&)>& progress);

}  // namespace troupe::tools
