#include "actors/core/log.hpp"

#include "runtime/own_log.hpp"
#include "runtime/registered_logger.hpp"

namespace troupe::actors {

spdlog::logger& log() {
  static const auto logger = runtime::registered_logger("actors");
  auto* const own = runtime::own_log();
  return own != nullptr ? *own : *logger;
}

}  // namespace troupe::actors
