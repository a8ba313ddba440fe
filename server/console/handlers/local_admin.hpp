// The console at a socket in the file system: who may open the file is the
// administrator of the machine, and needs no keys. The console alone is served there.
#pragma once

#include "server/http/http.hpp"

namespace troupe::server {

class local_admin final : public handler {
 public:
  // The console outlives it.
  explicit local_admin(handler& console);

  std::optional<response> admit(request& head) override;
  void serve(request_ptr request, responder answer) override;

 private:
  handler& console_;
  const user_ptr user_;
};

}  // namespace troupe::server
