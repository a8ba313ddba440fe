#include "server/rest/audit.hpp"

#include <spdlog/spdlog.h>

#include <memory>
#include <string>

#include "api/json_text.hpp"

namespace troupe::server {
namespace {

spdlog::logger& logger() {
  static const std::shared_ptr<spdlog::logger> found = [] {
    if (auto registered = spdlog::get("audit")) return registered;
    auto made = spdlog::default_logger()->clone("audit");
    spdlog::register_logger(made);  // so that its level can be changed while it runs
    return made;
  }();
  return *found;
}

}  // namespace

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

void audit(const request_record& seen) {
  const bool reads =
      seen.wanted == verb::get || seen.wanted == verb::list || seen.wanted == verb::watch;
  if (reads || !logger().should_log(spdlog::level::info)) return;
  std::string line = fmt::format("{{\"request\":\"{:016x}\"", seen.what.id);
  const auto& acting = seen.what.user;
  const auto& asking = seen.what.impersonator ? seen.what.impersonator : acting;
  append_audit(line, "user", asking ? std::string_view{asking->name} : "");
  if (asking != acting) append_audit(line, "impersonatedUser", acting->name);
  append_audit(line, "verb", to_string(seen.wanted));
  append_audit(line, "group", seen.where.group);
  append_audit(line, "resource", seen.where.kind == nullptr ? "" : seen.where.kind->plural());
  append_audit(line, "subresource", seen.where.subresource);
  append_audit(line, "namespace", seen.where.space);
  append_audit(line, "name", seen.where.name);
  append_audit(line, "peer",
               seen.what.connection ? std::string_view{seen.what.connection->peer} : "");
  line += fmt::format(",\"code\":{},\"micros\":{}}}", seen.status,
                      std::chrono::duration_cast<std::chrono::microseconds>(seen.took).count());
  write_audit(line);
}

}  // namespace troupe::server
