// The room's logger, "link".
#pragma once

#include <spdlog/logger.h>

namespace troupe::runtime::link {

// Registered by the program, or a copy of the default logger when it did not.
spdlog::logger& log();

}  // namespace troupe::runtime::link
