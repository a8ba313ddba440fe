#include "tools/node_surroundings.hpp"

#include <sys/resource.h>

#include <csignal>

#include "tools/logging.hpp"

namespace troupe::tools {

namespace {

// Thousands of connections and watches: as many descriptors as the system lets us have.
void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

node_surroundings::node_surroundings(const config::log_config& log,
                                     std::chrono::milliseconds stop_limit)
    : signals{stop_limit} {
  std::signal(SIGPIPE, SIG_IGN);
  start_logging(log);
  raise_descriptor_limit();
}

node_surroundings::~node_surroundings() {
  stop_logging();
}

}  // namespace troupe::tools
