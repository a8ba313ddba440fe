#include "server/access/audit_log.hpp"

#include <spdlog/spdlog.h>

#include <memory>

#include "api/codec/json_text.hpp"

namespace troupe::server {
namespace {

spdlog::logger& logger() {
  static const std::shared_ptr<spdlog::logger> found = [] {
    if (auto registered = spdlog::get("audit")) return registered;
    auto made = spdlog::default_logger()->clone("audit");
    spdlog::register_logger(made);  // so that its level can be changed at run time
    return made;
  }();
  return *found;
}

}  // namespace

bool audit_enabled() {
  return logger().should_log(spdlog::level::info);
}

void append_audit(std::string& line, std::string_view key, std::string_view value) {
  if (value.empty()) return;
  line += ',';
  api::append_json_string(line, key);
  line += ':';
  api::append_json_string(line, value);
}

void write_audit(const std::string& line) {
  logger().info("{}", line);
}

}  // namespace troupe::server
