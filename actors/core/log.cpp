#include "actors/core/log.hpp"

#include <spdlog/spdlog.h>

#include "runtime/own_log.hpp"

namespace troupe::actors {

spdlog::logger& log() {
  static const std::shared_ptr<spdlog::logger> logger = [] {
    if (auto registered = spdlog::get("actors")) return registered;
    auto made = spdlog::default_logger()->clone("actors");
    spdlog::register_logger(made);  // so that its level can be changed at runtime
    return made;
  }();
  auto* const own = runtime::own_log();
  return own != nullptr ? *own : *logger;
}

}  // namespace troupe::actors
