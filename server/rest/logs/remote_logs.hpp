// pods/NAME/log of a pod on another machine: its node reads the file and sends it over its link.
#pragma once

#include <cstdint>
#include <string>

#include "actors/link/node_requests.hpp"
#include "runtime/actor.hpp"
#include "server/rest/calls/call.hpp"

namespace troupe::server {

// One reader of one log there. At most `actors::link_defaults::log_credit` parts are under way: a
// client that reads slowly costs that much. Ends with the log, the link, or the client.
class remote_log_session : public runtime::actor {
 public:
  // `otherwise`: what a node without such a log means for the client.
  remote_log_session(call_ptr call, actors::open_log log, api::error otherwise);
  ~remote_log_session() override;

  const runtime::behavior& make_behavior() const override;
  void started() override;
  std::string describe() const override;

 private:
  struct room {};
  struct client_gone {};

  void on_log_part(const actors::log_part& m);
  void on_room(const room&);
  void on_client_gone(const client_gone&);
  void begin();
  void look_for_end();
  void give_credit();

  const call_ptr call_;
  const actors::open_log log_;
  const api::error otherwise_;
  runtime::actor_ref node_;  // the session of the node; empty until it has answered
  stream out_;
  bool begun_ = false, full_ = false, finished_ = false;
  std::uint32_t owed_ = 0;  // parts that the client has taken
  runtime::timer late_, look_;
};

}  // namespace troupe::server
