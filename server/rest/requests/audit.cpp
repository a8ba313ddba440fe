#include "server/rest/requests/audit.hpp"

#include <fmt/format.h>

#include <string>

#include "server/access/audit_log.hpp"

namespace troupe::server {
namespace {

// A command or a connection may have the method GET (over WebSocket), and is no read.
bool is_read(const request_record& record) {
  const auto part = record.route.subresource;
  const bool connects = part == "exec" || part == "attach" || part == "portforward";
  return !mutates(record.verb) && !connects;
}

}  // namespace

void audit(const request_record& record) {
  if (is_read(record) || !audit_enabled()) return;
  std::string line = fmt::format("{{\"request\":\"{:016x}\"", record.request.id);
  const auto& acting = record.request.user;
  const auto& authenticated = record.request.impersonator ? record.request.impersonator : acting;
  append_audit(line, "user", authenticated ? std::string_view{authenticated->name} : "");
  if (authenticated != acting) append_audit(line, "impersonatedUser", acting->name);
  append_audit(line, "verb", to_string(record.verb));
  append_audit(line, "group", record.route.group);
  append_audit(line, "resource",
               record.route.kind == nullptr ? std::string_view{record.request.info.resource}
                                            : std::string_view{record.route.kind->plural()});
  append_audit(line, "subresource", record.route.subresource);
  append_audit(line, "namespace", record.route.ns);
  append_audit(line, "name", record.route.name);
  append_audit(line, "peer",
               record.request.connection ? std::string_view{record.request.connection->peer} : "");
  if (record.annotations != nullptr)
    for (const auto& [key, text] : *record.annotations)
      append_audit(line, key, text);
  line += fmt::format(",\"code\":{},\"micros\":{}}}", record.status,
                      std::chrono::duration_cast<std::chrono::microseconds>(record.took).count());
  write_audit(line);
}

}  // namespace troupe::server
