// The room's logger, "actors".
#pragma once

#include <spdlog/logger.h>

namespace troupe::actors {

// Registered by the program, or a copy of the default logger when it did not; in an actor that has
// a log of its own, that.
spdlog::logger& log();

}  // namespace troupe::actors
