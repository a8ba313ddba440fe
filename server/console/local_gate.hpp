// The door of the console at a socket in the file system: who may open the file is the
// administrator of the machine, and needs no keys. The console alone is served there.
#pragma once

#include "server/http.hpp"

namespace troupe::server {

class local_gate final : public handler {
 public:
  // The console outlives it.
  explicit local_gate(handler& console);

  std::optional<response> admit(request& head) override;
  void serve(request_ptr what, responder answer) override;

 private:
  handler& console_;
  const user_ptr user_;
};

}  // namespace troupe::server
