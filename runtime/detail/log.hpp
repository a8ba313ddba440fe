// The room's logger, "runtime".
#pragma once

#include <spdlog/logger.h>

namespace troupe::runtime {

// Registered by the program, or a copy of the default logger when it did not.
spdlog::logger& log();

}  // namespace troupe::runtime
