// The console of a joined node: the views that need no store, of the actors of this machine, and
// the orders to them. The link's end on this machine hands it the questions that the console of the
// control plane sends (remote.hpp); the machine's own administrator asks it over HTTP, behind a
// local_admin, also while there is no link.
//
// Views are made on threads of its own. Thread safe.
#pragma once

#include <memory>

#include "runtime/actor_system.hpp"
#include "server/console/context/remote.hpp"
#include "server/http/http.hpp"

namespace troupe::server {

class node_console final : public handler {
 public:
  // `system` outlives it; `node` is the name that the machine has joined by.
  node_console(runtime::actor_system& system, std::string node);
  // Answers what was asked, then ends.
  ~node_console() override;

  // `done` is called once, on a thread that it may keep for a moment or inside of this call, within
  // 200 ms unless others wait. What is not understood, is too much or too long is answered
  // with a Status.
  void ask(console_question question, other_nodes::answered done);

  std::optional<response> admit(request& head) override;
  void serve(request_ptr request, responder answer) override;

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace troupe::server
