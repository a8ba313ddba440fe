// How a node leaves its cluster: its pods are evicted and end, its Node and Lease go, its process
// ends, and what it was given when it joined is removed. Each step may be repeated; one that was
// cut short goes on where it was.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <tl/expected.hpp>

#include "tools/join/defaults.hpp"

namespace troupe::tools {

struct leave_order {
  std::filesystem::path data_dir;
  std::chrono::milliseconds timeout = join_defaults::leave_timeout;
  // Pods are not waited for, nor a control plane that cannot be reached.
  bool force = false;
};

// Tells `progress` a line now and then. The error is one line: what is in the way, and what to do;
// the node stays cordoned.
tl::expected<void, std::string> leave(const leave_order& order,
                                      const std::function<void(const std::string&)>& progress);

}  // namespace troupe::tools
