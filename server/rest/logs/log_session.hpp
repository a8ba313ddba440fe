// Sends one log to one client: the log of a container on this machine, read by a child actor, or
// that of a pod on a joined node, received over its link.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "actors/link/node_requests.hpp"
#include "runtime/actor.hpp"
#include "server/rest/calls/call.hpp"
#include "server/streams/answer_stream.hpp"

namespace troupe::server {

// At most `actors::link_defaults::log_credit` parts are under way, which bounds the memory for a
// slow client. Ends with the log, the link, or the client.
class log_session : public runtime::actor {
 public:
  // `here`: the logs of this machine; null: the log is on a joined node. `otherwise`: the error for
  // the client if there is no such log.
  log_session(call_ptr call, actors::open_log log, std::shared_ptr<actors::log_source> here,
              api::error otherwise);
  ~log_session() override;

  const runtime::behavior& make_behavior() const override;
  void started() override;
  std::string describe() const override;

 private:
  struct room {};
  struct client_gone {};

  void on_log_part(const actors::log_part& m);
  void on_room(const room&);
  void on_client_gone(const client_gone&);
  void await_node();
  void begin();
  bool write(std::string_view text);
  void check_end();
  void give_credit();

  const call_ptr call_;
  const actors::open_log log_;
  const std::shared_ptr<actors::log_source> here_;
  const api::error otherwise_;
  runtime::actor_ref from_;  // the sender of parts; empty before its reply and after its end
  answer_stream out_;
  bool begun_ = false, full_ = false, finished_ = false;
  std::uint32_t owed_ = 0;  // parts consumed by the client, not yet credited
  runtime::timer late_, check_timer_;
};

}  // namespace troupe::server
