#include "runtime/link/transport/log.hpp"

#include "runtime/registered_logger.hpp"

namespace troupe::runtime::link {

spdlog::logger& log() {
  static const auto logger = registered_logger("link");
  return *logger;
}

}  // namespace troupe::runtime::link
