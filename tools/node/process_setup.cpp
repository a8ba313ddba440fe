#include "tools/node/process_setup.hpp"

#include <csignal>

#include "tools/node/logging.hpp"

namespace troupe::tools {

process_setup::process_setup(const config::log_config& log, std::chrono::milliseconds stop_limit)
    : signals{stop_limit} {
  std::signal(SIGPIPE, SIG_IGN);
  start_logging(log);
}

process_setup::~process_setup() {
  stop_logging();
}

}  // namespace troupe::tools
