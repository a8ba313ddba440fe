// Commands to an actor, or for the log level. Each command is logged with its user; the caller has
// checked the permission.
#pragma once

#include "server/console/context/context.hpp"

namespace troupe::server {

struct control_requester {
  std::string user;
  std::string peer;
  std::uint64_t request = 0;
};

// `verb` is the path after /console/api/: restart, pause, resume, kill, send, log.
view_result control(const console_context& context, std::string_view verb,
                    const query_string& query, const control_requester& by);
bool is_control_verb(std::string_view verb) noexcept;

}  // namespace troupe::server
