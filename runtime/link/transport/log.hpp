// The room's logger, "link".
#pragma once

#include <spdlog/logger.h>

namespace troupe::runtime::link {

// Returns the logger registered by the program, or else a copy of the default logger.
spdlog::logger& log();

}  // namespace troupe::runtime::link
