#include "server/console/handlers/local_admin.hpp"

#include "server/console/handlers/console_request.hpp"

namespace troupe::server {

local_admin::local_admin(handler& console)
    : console_{console},
      user_{std::make_shared<const user_info>(user_info{"local-admin", "", {"system:masters"}})} {}

std::optional<response> local_admin::admit(request& head) {
  if (!is_console_path(head.path)) return no_such_path(head.path);
  head.user = user_;
  return console_.admit(head);
}

void local_admin::serve(request_ptr request, responder answer) {
  console_.serve(std::move(request), std::move(answer));
}

}  // namespace troupe::server
