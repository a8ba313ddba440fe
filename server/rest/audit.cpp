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

void member(std::string& out, std::string_view key, std::string_view value) {
  if (value.empty()) return;
  out += ',';
  api::append_json_string(out, key);
  out += ':';
  api::append_json_string(out, value);
}

}  // namespace

void audit(const request_record& seen) {
  const bool reads =
      seen.wanted == verb::get || seen.wanted == verb::list || seen.wanted == verb::watch;
  if (reads || !logger().should_log(spdlog::level::info)) return;
  std::string line = fmt::format("{{\"request\":\"{:016x}\"", seen.what.id);
  const auto& acting = seen.what.user;
  const auto& asking = seen.what.impersonator ? seen.what.impersonator : acting;
  member(line, "user", asking ? std::string_view{asking->name} : "");
  if (asking != acting) member(line, "impersonatedUser", acting->name);
  member(line, "verb", to_string(seen.wanted));
  member(line, "group", seen.where.group);
  member(line, "resource", seen.where.kind == nullptr ? "" : seen.where.kind->plural());
  member(line, "subresource", seen.where.subresource);
  member(line, "namespace", seen.where.space);
  member(line, "name", seen.where.name);
  member(line, "peer", seen.what.connection ? std::string_view{seen.what.connection->peer} : "");
  line += fmt::format(",\"code\":{},\"micros\":{}}}", seen.status,
                      std::chrono::duration_cast<std::chrono::microseconds>(seen.took).count());
  logger().info("{}", line);
}

}  // namespace troupe::server
