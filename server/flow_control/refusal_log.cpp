#include "server/flow_control/refusal_log.hpp"

#include <fmt/format.h>

#include "server/access/audit_log.hpp"
#include "server/defaults.hpp"
#include "server/flow_control/flow.hpp"
#include "server/flow_control/key_counts.hpp"

namespace troupe::server {
namespace {

// The refused user, or the address if anonymous.
std::uint64_t key_of(const refusal& refusal) {
  const bool known = refusal.request != nullptr && refusal.request->user != nullptr &&
                     flow_schema_of(*refusal.request) != flow_schema::catch_all;
  const auto peer_key =
      known ? key_counts::key_of(refusal.request->user->name) : key_counts::key_of(refusal.address);
  return (peer_key + key_counts::key_of(refusal.reason) +
          static_cast<std::uint64_t>(refusal.code)) |
         1;
}

std::string members_of(const refusal& refusal) {
  std::string line;
  if (refusal.request != nullptr) {
    const auto& info = refusal.request->info;
    const auto& user =
        refusal.request->impersonator ? refusal.request->impersonator : refusal.request->user;
    if (user) append_audit(line, "user", user->name);
    if (refusal.request->impersonator)
      append_audit(line, "impersonatedUser", refusal.request->user->name);
    append_audit(line, "verb", info.verb.empty() ? refusal.request->method_text : info.verb);
    if (info.is_resource) {
      append_audit(line, "group", info.group);
      append_audit(line, "resource", info.resource);
      append_audit(line, "subresource", info.subresource);
      append_audit(line, "namespace", info.namespace_name);
      append_audit(line, "name", info.name);
    } else {
      append_audit(line, "path", refusal.request->path);
    }
  }
  append_audit(line, "peer", refusal.peer);
  if (refusal.code != 0) line += fmt::format(",\"code\":{}", refusal.code);
  append_audit(line, "reason", refusal.reason);
  return line;
}

}  // namespace

bool refusal_log::may_write(clock::time_point now) {
  if (now - second_ >= std::chrono::seconds{1}) {
    second_ = now;
    written_ = 0;
  }
  return written_++ < defaults::refusal_lines;
}

// After a flood: the first line's members stand for the others.
void refusal_log::write_count(row& row) {
  if (row.counted > 0) write_audit(fmt::format("{{\"refused\":{}{}}}", row.counted, row.line));
  row = {};
}

void refusal_log::add(const refusal& refusal, clock::time_point now) {
  const auto key = key_of(refusal);
  const std::lock_guard lock{mutex_};
  auto& row = rows_[(key >> 20) % rows_.size()];
  if (row.key == key) {
    ++row.counted;
    return;
  }
  // One line at most, and one for the earlier count of the row.
  if (!may_write(now)) {
    ++left_out_;
    return;
  }
  write_count(row);
  row.key = key;
  row.since = now;
  row.line = members_of(refusal);
  if (refusal.request != nullptr) {
    write_audit(fmt::format("{{\"request\":\"{:016x}\"{}}}", refusal.request->id, row.line));
  } else {
    write_audit(fmt::format("{{\"refused\":1{}}}", row.line));
  }
}

void refusal_log::flush(clock::time_point now) {
  const std::lock_guard lock{mutex_};
  for (auto& row : rows_) {
    if (row.key == 0 || now - row.since < defaults::refusal_period) continue;
    if (row.counted > 0 && !may_write(now)) break;  // written by the next call
    write_count(row);
  }
  if (left_out_ > 0 && now - second_ >= std::chrono::seconds{1}) {
    write_audit(fmt::format("{{\"refused\":{},\"reason\":\"many others\"}}", left_out_));
    left_out_ = 0;
  }
}

}  // namespace troupe::server
