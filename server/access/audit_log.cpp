#include "server/access/audit_log.hpp"

#include "api/codec/json_text.hpp"
#include "runtime/registered_logger.hpp"

namespace troupe::server {
namespace {

spdlog::logger& logger() {
  static const auto found = runtime::registered_logger("audit");
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
