#include "runtime/detail/log.hpp"

#include "runtime/registered_logger.hpp"

namespace troupe::runtime {

spdlog::logger& log() {
  static const auto logger = registered_logger("runtime");
  return *logger;
}

}  // namespace troupe::runtime
