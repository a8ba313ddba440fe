// The table of container streams in a node's session at the control plane: handles the messages to
// and from the node. Belongs to the session's actor.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "actors/link/frame_sender.hpp"
#include "actors/link/frames.hpp"
#include "actors/link/frames.pb.h"
#include "actors/link/linked_stream.hpp"
#include "actors/link/node_requests.hpp"
#include "runtime/actor_ref.hpp"
#include "runtime/clock.hpp"
#include "runtime/promise.hpp"

namespace troupe::actors {

// From `links`: a stream request, with the promise of its answer.
struct node_stream_request {
  open_stream request;
  std::shared_ptr<runtime::promise<stream_opened>> answer;
};

class session_streams {
 public:
  // `session` receives stream_work; `send` passes an item to the link.
  session_streams(std::string node, runtime::actor_ref session,
                  std::function<void(wire::ToNode::Item&)> send)
      : node_{std::move(node)}, session_{std::move(session)}, send_{std::move(send)} {}

  // Includes streams that the node has not answered yet.
  std::size_t size() const noexcept { return streams_.size(); }
  // Answered by the node, by `check_timeouts` (timeout), or by `end`.
  void open(const node_stream_request& m, runtime::time_point now);

  // -- from the node; an error is a protocol error and ends the session ---------------------------

  readable<void> take(const wire::StreamOpened& m);
  readable<void> take(const wire::StreamOutput& m);
  readable<void> take(const wire::InputTaken& m);
  void take(const wire::StreamEnded& m);

  // -- to the node --------------------------------------------------------------------------------

  // A handle has orders for its stream: they are sent in `pump`.
  void take(const stream_work& m);
  // Sends while the link has room, one piece of each stream in turn. Returns false if some are
  // left: call again after `link_defaults::backlog_round`.
  bool pump(const frame_sender& out);
  // Fails overdue requests; streams whose notification was lost get a turn.
  void check_timeouts(runtime::time_point now);
  // The session has ended. `send` is not called any more.
  void end(const std::string& reason);

 private:
  struct entry {
    std::shared_ptr<linked_stream> stream;
    std::shared_ptr<runtime::promise<stream_opened>> answer;  // null: opened
    runtime::time_point until;
    bool in_turns = false;
  };
  using table = std::map<std::uint64_t, entry>;

  void add_turn(std::uint64_t ask);
  void send_commands(table::iterator at);
  void send_close(std::uint64_t ask);
  static void refuse(runtime::promise<stream_opened>& answer, runtime_error error);

  const std::string node_;
  const runtime::actor_ref session_;
  const std::function<void(wire::ToNode::Item&)> send_;
  table streams_;
  std::deque<std::uint64_t> turns_;
  std::uint64_t last_ask_ = 0;
};

}  // namespace troupe::actors
