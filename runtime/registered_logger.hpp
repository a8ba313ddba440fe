// The loggers of the rooms.
#pragma once

#include <spdlog/spdlog.h>

#include <memory>
#include <string>

namespace troupe::runtime {

// Returns the logger that the program registered under this name, or else a copy of the default
// logger, which is registered so that its level can be changed while the program runs.
inline std::shared_ptr<spdlog::logger> registered_logger(const std::string& name) {
  if (auto registered = spdlog::get(name)) return registered;
  auto made = spdlog::default_logger()->clone(name);
  spdlog::register_logger(made);
  return made;
}

}  // namespace troupe::runtime
