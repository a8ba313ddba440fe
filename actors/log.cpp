#include "actors/log.hpp"

#include <spdlog/spdlog.h>

namespace troupe::actors {

spdlog::logger& log() {
  static const std::shared_ptr<spdlog::logger> logger = [] {
    auto registered = spdlog::get("actors");
    return registered ? registered : spdlog::default_logger()->clone("actors");
  }();
  return *logger;
}

}  // namespace troupe::actors
