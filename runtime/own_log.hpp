// The log of one actor, which `system::log_level` gives it: what the actor says while it handles a
// message goes there, at the level of its own, and at `debug` every message it handles.
#pragma once

#include <spdlog/logger.h>

namespace troupe::runtime {

// Of the actor that this thread runs; null when it has none, and outside of any. A room's `log()`
// asks here first.
spdlog::logger* own_log() noexcept;

}  // namespace troupe::runtime
