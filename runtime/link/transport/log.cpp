#include "runtime/link/transport/log.hpp"

#include <spdlog/spdlog.h>

namespace troupe::runtime::link {

spdlog::logger& log() {
  static const std::shared_ptr<spdlog::logger> logger = [] {
    if (auto registered = spdlog::get("link")) return registered;
    auto made = spdlog::default_logger()->clone("link");
    spdlog::register_logger(made);  // so that its level can be changed at runtime
    return made;
  }();
  return *logger;
}

}  // namespace troupe::runtime::link
