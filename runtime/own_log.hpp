// The log of one actor, created by `actor_system::log_level`: the lines that the actor logs while
// it handles a message, at the level of this log, and at `debug` a line for each message.
#pragma once

#include <spdlog/logger.h>

namespace troupe::runtime {

// The log of the actor that this thread runs; null if it has none, and outside of actors. Each
// room's `log()` checks it first.
spdlog::logger* own_log() noexcept;

}  // namespace troupe::runtime
