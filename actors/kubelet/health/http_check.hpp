// One GET as upstream's probes and hooks send it: success is a status from 200 to 399, for a hook
// any (kubernetes: lifecycle/handlers.go, runHTTPHandler). Blocks: not for actors' threads.
#pragma once

#include "actors/kubelet/health/health_check.hpp"
#include "runtime/clock.hpp"

namespace troupe::actors {

// Redirects to the same host are followed, at most ten; one to another host is a success, as the
// container is well enough to send it. All of it ends within `timeout`, or as soon as the
// descriptor `cancel` can be read.
health_result http_check(const http_get_action& check, runtime::duration timeout, int cancel = -1);

// A connection that opens.
health_result tcp_check(const tcp_socket_action& check, runtime::duration timeout, int cancel = -1);

// -- pure, for the tests --------------------------------------------------------------------------

struct http_reply {
  int status = 0;
  std::string location;  // of a redirect
  std::string body;
};
tl::expected<http_reply, std::string> parse_reply(const std::string& text);
std::string request_text(const http_get_action& check);

}  // namespace troupe::actors
