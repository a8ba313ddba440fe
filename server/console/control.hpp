// What a person may do to an actor, and to the log's level. Only for requests that say so (header
// `x-troupe-control: allow`, which no foreign web page can send) and whose user may post to the
// path. Each is written to the log with who did it.
#pragma once

#include "server/console/context.hpp"
#include "server/http.hpp"

namespace troupe::server {

// `verb` is what follows /console/api/: restart, pause, resume, kill, send, log.
view_result control(const console_context& in, std::string_view verb, const request& what);
bool is_control_verb(std::string_view verb) noexcept;

}  // namespace troupe::server
