#include "tools/node_surroundings.hpp"

#include <csignal>

#include "tools/logging.hpp"

namespace troupe::tools {

node_surroundings::node_surroundings(const config::log_config& log,
                                     std::chrono::milliseconds stop_limit)
    : signals{stop_limit} {
  std::signal(SIGPIPE, SIG_IGN);
  start_logging(log);
}

node_surroundings::~node_surroundings() {
  stop_logging();
}

}  // namespace troupe::tools
