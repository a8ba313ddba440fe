// What stands between the transport and the API: who asks and may they, before the body is read; is
// there room, when it is there; and the paths that need no API: health and version. A refusal is a
// Status document. Thread safe.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "server/authentication.hpp"
#include "server/authorization.hpp"
#include "server/health.hpp"
#include "server/http.hpp"
#include "server/in_flight.hpp"

namespace troupe::server {

class gate final : public handler {
 public:
  // All given outlive the gate.
  gate(const authenticator& who, const authorization& may, const in_flight& room,
       const health_checks& health, handler& api);

  // Sets user, impersonator, info and long_running.
  std::optional<response> admit(request& head) override;
  std::optional<response> enter(const request& whole, std::shared_ptr<void>& permit) override;
  void serve(request_ptr what, responder answer) override;

 private:
  const authenticator& who_;
  const authorization& may_;
  const in_flight& room_;
  const health_checks& health_;
  handler& api_;
};

// For the plain listener of the 2014 API, which knew no users: everybody who reaches it is trusted,
// but for web pages that make somebody's browser reach it.
class open_gate final : public handler {
 public:
  // `names`: that the machine is called by, besides its addresses.
  open_gate(const in_flight& room, handler& api, std::vector<std::string> names = {});
  std::optional<response> admit(request& head) override;
  std::optional<response> enter(const request& whole, std::shared_ptr<void>& permit) override;
  void serve(request_ptr what, responder answer) override;

 private:
  const std::vector<std::string> names_;
  const in_flight& room_;
  handler& api_;
};

}  // namespace troupe::server
