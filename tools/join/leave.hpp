// How a node leaves its cluster: its pods are evicted and end, its Node and Lease go, its process
// ends, and what it was given when it joined is removed. Each step may be repeated; one that was
// cut short goes on where it was.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <tl/expected.hpp>

#include "tools/client/cluster_client.hpp"
#include "tools/join/defaults.hpp"

namespace troupe::tools {

struct leave_order {
  std::filesystem::path data_dir;
  std::chrono::milliseconds timeout = join_defaults::leave_timeout;
  // Pods are not waited for, nor a control plane that cannot be reached.
  bool force = false;
};

// Whether the data dir is that of a control plane, of whichever kind.
bool is_control_plane(const std::filesystem::path& data_dir);
// As `leave`: its pods are evicted, its process ends and gives the lead and its record up, another
// control plane takes its Node out, and its keys and its copy of the state are removed. The last
// one cannot leave.
tl::expected<void, std::string> leave_as_control_plane(
    const leave_order& order, const std::function<void(const std::string&)>& progress);

// The parts of leaving that a node and a control plane have in common.
struct leave_state {
  bool gone = false;
  std::string left;  // so many pods
  std::string pods;  // their names
};
struct leave_problem {
  bool unreachable = false;
  std::string message;
};
tl::expected<leave_state, leave_problem> request_leave(cluster_client& to, const std::string& node,
                                                       bool at_once);
// `reported`: the control plane has let it go, so that it ends by itself.
tl::expected<void, std::string> end_process(const leave_order& order, bool reported);
// What pods have left in the kubelet's root directory.
tl::expected<void, std::string> end_pods(const std::filesystem::path& root_dir);

// Tells `progress` a line now and then. The error is one line: what is in the way, and what to do;
// the node stays cordoned.
tl::expected<void, std::string> leave(const leave_order& order,
                                      const std::function<void(const std::string&)>& progress);

}  // namespace troupe::tools
