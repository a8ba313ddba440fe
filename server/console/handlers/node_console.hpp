// The console of a joined node: the views that need no store, for the actors of this machine, and
// the commands to them. The node's side of the link passes on questions from the control plane's
// console (remote.hpp). The machine's administrator uses it over HTTP, behind a local_admin, even
// while the link is down.
//
// Views run on its own threads. Thread safe.
#pragma once

#include <memory>

#include "runtime/actor_system.hpp"
#include "server/console/context/remote.hpp"
#include "server/http/http.hpp"

namespace troupe::server {

class node_console final : public handler {
 public:
  // `system` must outlive it; `node` is the name by which the machine has joined.
  node_console(runtime::actor_system& system, std::string node);
  // Answers pending questions, then ends.
  ~node_console() override;

  // Calls `done` once, on a thread that it may block briefly or in this call, within 200 ms
  // unless other questions wait. Invalid, excess or too long questions are answered with a
  // Status.
  void ask(console_question question, other_nodes::answered done);

  std::optional<response> admit(request& head) override;
  void serve(request_ptr request, responder answer) override;

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace troupe::server
