// The reader of one log for one client: of a container of this machine, read by a streamer that is
// its child, or of a pod on a joined node, which sends it over its link.
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

// At most `actors::link_defaults::log_credit` parts are under way: a client that reads slowly costs
// that much. Ends with the log, the link, or the client.
class log_session : public runtime::actor {
 public:
  // `here`: where this machine has it; null: it is on a joined node. `otherwise`: what it means for
  // the client that there is no such log.
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
  void look_for_end();
  void give_credit();

  const call_ptr call_;
  const actors::open_log log_;
  const std::shared_ptr<actors::log_source> here_;
  const api::error otherwise_;
  runtime::actor_ref from_;  // who sends the parts; empty until it has answered, or has ended
  answer_stream out_;
  bool begun_ = false, full_ = false, finished_ = false;
  std::uint32_t owed_ = 0;  // parts that the client has taken
  runtime::timer late_, look_;
};

}  // namespace troupe::server
