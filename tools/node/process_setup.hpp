// The first set-up of every process that runs a node: signals that end it, and a log. Construct it
// before the process has other threads, and after the checks of process_limits.hpp.
#pragma once

#include <chrono>

#include "config/node_config.hpp"
#include "tools/defaults.hpp"
#include "tools/node/stop_signals.hpp"

namespace troupe::tools {

class process_setup {
 public:
  explicit process_setup(const config::log_config& log,
                         std::chrono::milliseconds stop_limit = defaults::stop_limit);
  process_setup(const process_setup&) = delete;
  process_setup& operator=(const process_setup&) = delete;
  ~process_setup();

  stop_signals signals;
};

}  // namespace troupe::tools
