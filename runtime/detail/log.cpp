#include "runtime/detail/log.hpp"

#include <spdlog/spdlog.h>

namespace troupe::runtime {

spdlog::logger& log() {
  static const std::shared_ptr<spdlog::logger> logger = [] {
    auto registered = spdlog::get("runtime");
    return registered ? registered : spdlog::default_logger()->clone("runtime");
  }();
  return *logger;
}

}  // namespace troupe::runtime
