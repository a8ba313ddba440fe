// The room's logger, "actors".
#pragma once

#include <spdlog/logger.h>

namespace troupe::actors {

// Returns the logger of the current actor if it has one. Otherwise returns the logger that the
// program registered for this room, or else a copy of the default logger.
spdlog::logger& log();

}  // namespace troupe::actors
