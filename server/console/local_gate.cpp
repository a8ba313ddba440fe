#include "server/console/local_gate.hpp"

#include "server/console/console_request.hpp"

namespace troupe::server {

local_gate::local_gate(handler& console)
    : console_{console},
      user_{std::make_shared<const user_info>(user_info{"local-admin", "", {"system:masters"}})} {}

std::optional<response> local_gate::admit(request& head) {
  if (!is_console_path(head.path)) return no_such_path(head.path);
  head.user = user_;
  return console_.admit(head);
}

void local_gate::serve(request_ptr what, responder answer) {
  console_.serve(std::move(what), std::move(answer));
}

}  // namespace troupe::server
