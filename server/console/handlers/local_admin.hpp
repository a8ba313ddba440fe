// The console at a Unix socket: users who may open the file are administrators of the machine, and
// need no credentials. It serves only the console.
#pragma once

#include "server/http/http.hpp"

namespace troupe::server {

class local_admin final : public handler {
 public:
  // The console must outlive it.
  explicit local_admin(handler& console);

  std::optional<response> admit(request& head) override;
  void serve(request_ptr request, responder answer) override;

 private:
  handler& console_;
  const user_ptr user_;
};

}  // namespace troupe::server
