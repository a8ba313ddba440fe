// What every process that runs a node needs around it: signals that end it, and a log. To be made
// before the process has other threads, and after process_limits.hpp was asked.
#pragma once

#include <chrono>

#include "config/node_config.hpp"
#include "tools/defaults.hpp"
#include "tools/stop_signals.hpp"

namespace troupe::tools {

class node_surroundings {
 public:
  explicit node_surroundings(const config::log_config& log,
                             std::chrono::milliseconds stop_limit = defaults::stop_limit);
  node_surroundings(const node_surroundings&) = delete;
  node_surroundings& operator=(const node_surroundings&) = delete;
  ~node_surroundings();

  stop_signals signals;
};

}  // namespace troupe::tools
