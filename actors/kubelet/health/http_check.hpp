// One HTTP GET of a probe or hook. Success is a status from 200 to 399, for a hook any status
// (kubernetes: lifecycle/handlers.go, runHTTPHandler). Blocks: not for actor threads.
#pragma once

#include "actors/kubelet/health/health_check.hpp"
#include "runtime/clock.hpp"

namespace troupe::actors {

// Follows at most ten redirects to the same host; a redirect to another host is a success, because
// the container was able to send it. Returns within `timeout`, or as soon as the descriptor
// `cancel` becomes readable.
health_result http_check(const http_get_action& check, runtime::duration timeout, int cancel = -1);

// Success if the TCP connection can be opened.
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
