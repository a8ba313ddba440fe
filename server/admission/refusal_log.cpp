#include "server/admission/refusal_log.hpp"

#include <fmt/format.h>

#include "server/admission/flow.hpp"
#include "server/admission/key_counts.hpp"
#include "server/defaults.hpp"
#include "server/rest/audit.hpp"

namespace troupe::server {
namespace {

// Who is refused: the user, or the address where nobody is known.
std::uint64_t key_of(const refusal& what) {
  const bool known = what.asked != nullptr && what.asked->user != nullptr &&
                     flow_schema_of(*what.asked) != flow_schema::catch_all;
  const auto who =
      known ? key_counts::key_of(what.asked->user->name) : key_counts::key_of(what.address);
  return (who + key_counts::key_of(what.reason) + static_cast<std::uint64_t>(what.code)) | 1;
}

std::string members_of(const refusal& what) {
  std::string line;
  if (what.asked != nullptr) {
    const auto& info = what.asked->info;
    const auto& asking = what.asked->impersonator ? what.asked->impersonator : what.asked->user;
    if (asking) append_audit(line, "user", asking->name);
    if (what.asked->impersonator) append_audit(line, "impersonatedUser", what.asked->user->name);
    append_audit(line, "verb", info.verb.empty() ? what.asked->method_text : info.verb);
    if (info.is_resource) {
      append_audit(line, "group", info.group);
      append_audit(line, "resource", info.resource);
      append_audit(line, "subresource", info.subresource);
      append_audit(line, "namespace", info.namespace_name);
      append_audit(line, "name", info.name);
    } else {
      append_audit(line, "path", what.asked->path);
    }
  }
  append_audit(line, "peer", what.peer);
  if (what.code != 0) line += fmt::format(",\"code\":{}", what.code);
  append_audit(line, "reason", what.reason);
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

// After a flood: its last line stands for the others.
void refusal_log::tell_of(row& which) {
  if (which.counted > 0)
    write_audit(fmt::format("{{\"refused\":{}{}}}", which.counted, which.line));
  which = {};
}

void refusal_log::add(const refusal& what, clock::time_point now) {
  const auto key = key_of(what);
  const std::lock_guard lock{mutex_};
  auto& row = rows_[(key >> 20) % rows_.size()];
  if (row.key == key) {
    ++row.counted;
    return;
  }
  // One line at most, and one for what was counted in the row before.
  if (!may_write(now)) {
    ++left_out_;
    return;
  }
  tell_of(row);
  row.key = key;
  row.since = now;
  row.line = members_of(what);
  if (what.asked != nullptr) {
    write_audit(fmt::format("{{\"request\":\"{:016x}\"{}}}", what.asked->id, row.line));
  } else {
    write_audit(fmt::format("{{\"refused\":1{}}}", row.line));
  }
}

void refusal_log::flush(clock::time_point now) {
  const std::lock_guard lock{mutex_};
  for (auto& row : rows_) {
    if (row.key == 0 || now - row.since < defaults::refusal_period) continue;
    if (row.counted > 0 && !may_write(now)) break;  // in the next call
    tell_of(row);
  }
  if (left_out_ > 0 && now - second_ >= std::chrono::seconds{1}) {
    write_audit(fmt::format("{{\"refused\":{},\"reason\":\"many others\"}}", left_out_));
    left_out_ = 0;
  }
}

}  // namespace troupe::server
