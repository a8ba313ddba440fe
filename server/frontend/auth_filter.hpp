// The filter between the transport and the API: authentication and authorization before the body is
// read, limits when it is complete, and the paths that need no API: health and version. A refusal
// is a Status document. Thread safe.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "server/access/authentication.hpp"
#include "server/access/authorization.hpp"
#include "server/flow_control/in_flight.hpp"
#include "server/frontend/health.hpp"
#include "server/http/http.hpp"

namespace troupe::server {

class auth_filter final : public handler {
 public:
  // All arguments must outlive the filter.
  auth_filter(const authenticator& authenticator, const authorization& authorization,
              const in_flight& in_flight, const health_checks& health, handler& api);

  // Sets user, impersonator, info and long_running. A request whose token may become valid at once
  // has no user until serve().
  std::optional<response> admit(request& head) override;
  std::optional<response> enter(const request& request, std::shared_ptr<void>& permit) override;
  void serve(request_ptr request, responder answer) override;

 private:
  // Sets the user, and checks what the user may do.
  std::optional<response> admit_user(request& head, user_ptr user);
  // For a request without a user, whose token may be known in the newest state only: authenticates
  // it again.
  void serve_at_newest(request_ptr request, responder answer);

  const authenticator& authenticator_;
  const authorization& authorization_;
  const server::in_flight& in_flight_;
  const health_checks& health_;
  handler& api_;
};

// The filter of the plain listener for the 2014 API, which has no users: all clients that can
// connect are trusted, except web pages in a browser.
class open_filter final : public handler {
 public:
  // `names`: host names of the machine, besides its addresses.
  open_filter(const in_flight& in_flight, handler& api, std::vector<std::string> names = {});
  std::optional<response> admit(request& head) override;
  std::optional<response> enter(const request& request, std::shared_ptr<void>& permit) override;
  void serve(request_ptr request, responder answer) override;

 private:
  const std::vector<std::string> names_;
  const server::in_flight& in_flight_;
  handler& api_;
};

}  // namespace troupe::server
