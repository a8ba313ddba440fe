#include "runtime/detail/log.hpp"

#include <spdlog/spdlog.h>

namespace troupe::runtime {

spdlog::logger& log() {
  static const std::shared_ptr<spdlog::logger> logger = [] {
    if (auto registered = spdlog::get("runtime")) return registered;
    auto made = spdlog::default_logger()->clone("runtime");
    spdlog::register_logger(made);  // so that its level can be changed at runtime
    return made;
  }();
  return *logger;
}

}  // namespace troupe::runtime
