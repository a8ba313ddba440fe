// The node's end of the link: one actor that replaces the control plane's writer, watcher and
// recorder, so that a kubelet or simulated minion works on a joined machine as next to the store.
//
// When the link is lost, pending requests are answered with an error: outcome unknown. Streams
// stay: in the next session they resume after the last revision their subscriber has seen, without
// gaps or duplicates; a stream with an incomplete initial list ends. Without a link commands fail
// at once, and events are buffered up to a limit.
//
// It owns only pending requests and streams. When it crashes the session ends with it; subscribers
// notice by their heartbeat (informer.hpp) and subscribe again.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/core/messages.hpp"
#include "actors/link/frame_inbox.hpp"
#include "actors/link/frame_sender.hpp"
#include "actors/link/frames.pb.h"
#include "actors/link/node_requests.hpp"
#include "actors/tokens/token_issuer.hpp"
#include "runtime/actor.hpp"
#include "runtime/actor_system.hpp"
#include "runtime/link/link.hpp"

namespace troupe::actors {

struct gateway_options {
  std::string node;
  // Name of the actor; empty: the node's. A second gateway only answers requests of its control
  // plane and serves no kubelet.
  std::string name = {};
  // Source of its containers' logs; null: none (simulated nodes).
  std::shared_ptr<log_source> logs = {};
  // Runtime for commands, consoles and ports; null: none.
  std::shared_ptr<stream_source> streams = {};
  // Answers console requests of the control plane by calling `done` on any thread; empty: none.
  std::function<void(console_request request, std::function<void(console_view)> done)> console = {};
  // Called when a session begins or ends, and when the node was removed from the cluster; called in
  // the gateway, must not block.
  std::function<void()> linked = {};
  std::function<void(const std::string& reason)> unlinked = {};
  std::function<void(const std::string& reason)> node_removed = {};
};

// To the gateway: a session is open.
struct session_begun {
  std::shared_ptr<frame_inbox> inbox;
};

// To the gateway: a call to the control plane failed or was rejected.
struct call_failed {
  std::string reason;
};

class node_gateway : public runtime::actor {
 public:
  // Kinds of its child actors: log readers, streams into containers.
  static constexpr const char* log_kind = "log";
  static constexpr const char* stream_kind = "container-stream";

  explicit node_gateway(gateway_options options) : options_{std::move(options)} {}

  const runtime::behavior& make_behavior() const override;
  void started() override;
  std::string describe() const override;

 private:
  using subscriber_key = std::pair<std::uint64_t, std::uint64_t>;  // actor, its stream number
  struct remote_stream {
    runtime::actor_ref subscriber;
    actors::subscribe subscription;
    std::uint64_t number = 0;  // on the link; 0: not requested
    revision last = 0;
    bool begun = false, synced = false;
    std::int64_t credit = 0;         // given by the subscriber, unused
    std::vector<watch_event> parts;  // of an incomplete list
    runtime::time_point again_at{};  // rejected: when it is requested again
  };
  // A request without an answer yet.
  struct pending {
    runtime::promise<commit_done> committed;
    runtime::promise<command_done> commanded;
    runtime::promise<token_answer> granted;
    std::vector<std::string> keys;  // of a commit
    runtime::time_point until;
  };
  struct unsent_event {
    runtime::time_point at;
    wire::FromNode::Item item;
  };
  // A stream into a container.
  struct served_stream {
    runtime::actor_ref streamer;
    std::size_t room = 0;  // the rest of the control plane's credit for input
  };
  struct output_piece {
    runtime::actor_ref streamer;
    wire::StreamOutput piece;
  };
  struct flush {};
  struct console_done {
    std::shared_ptr<const frame_inbox> inbox;
    std::uint64_t request = 0;
    console_view view;
  };

  // -- from the kubelet: for the watcher
  void on_subscribe(const subscribe& m);
  void on_more(const more& m);
  void on_bookmark_now(const bookmark_now& m);
  void on_unsubscribe(const unsubscribe& m);
  // -- for the writer and the recorder (node_gateway_requests.cpp)
  void on_commit(const commit& m, runtime::promise<commit_done> answer);
  void on_evict(const evict& m, runtime::promise<command_done> answer);
  void on_remove(const remove& m, runtime::promise<command_done> answer);
  void on_record_event(const record_event& m);
  void on_request_token(const request_token& m, runtime::promise<token_answer> answer);
  void keep_event(wire::FromNode::Item event);
  void send_unsent_events();
  std::optional<persistence::error> cannot_request() const;
  std::uint64_t add_pending(pending request);
  template <class F>
  void send_command(runtime::promise<command_done> answer, F write);
  void fail_all(const std::string& reason);
  // -- from the link
  void on_session_begun(const session_begun& m);
  void on_link_ended(const link_ended& m);
  void on_call_failed(const call_failed& m);
  void on_frame(const frame_received& m);
  void take(const wire::ToNode::Item& item);
  void take_events(const wire::WatchEvents& m);
  void take_ended(const wire::WatchEnded& m);
  void take_commit_done(const wire::CommitDone& m);
  void take_command_done(const wire::CommandDone& m);
  void take_token_answer(const wire::TokenAnswer& m);
  // -- requests of the control plane (node_gateway_answers.cpp)
  void take_open_log(const wire::OpenLog& m);
  void take_console(const wire::AskConsole& m);
  void on_log_part(const log_part& m);
  void send_log_part(const log_part& m);
  void on_console_done(const console_done& m);
  void take_ask_usage(const wire::AskUsage& m);  // node_gateway_usage.cpp
  void stop_streamers();
  void stop_former_streamers();
  // -- streams into containers (node_gateway_streams.cpp)
  void take_of_stream(const wire::ToNode::Item& item);
  void take_open_stream(const wire::OpenStream& m);
  void take_stream_input(const wire::StreamInput& m);
  void take_close_stream(const wire::CloseStream& m);
  template <class Item>
  bool pass_to_stream(const Item& m);
  served_stream* stream_of_sender(std::uint64_t ask);
  void on_stream_opened(const wire::StreamOpened& m);
  void on_stream_output(const wire::StreamOutput& m);
  void on_input_taken(const wire::InputTaken& m);
  void on_stream_ended(const wire::StreamEnded& m);
  void pump_outputs();
  void on_child_ended(const runtime::child_ended& m);
  void send_stream_ended(const wire::StreamEnded& m);
  void fail_stream(std::uint64_t ask, const std::string& reason);
  void stop_container_streams();

  void request_stream(remote_stream& s);
  void forget(const subscriber_key& key);
  remote_stream* find_number(std::uint64_t number);
  void deliver(remote_stream& s, const wire::WatchEvents& last);
  void end_session(const std::string& reason);
  void lose(const std::string& reason);
  void round();
  void sweep();
  // Returns false if the item does not fit into a frame.
  bool send_item(wire::FromNode::Item& item);
  void on_flush(const flush&);

  const gateway_options options_;
  std::shared_ptr<frame_inbox> inbox_;  // null: no session
  std::optional<frame_sender> out_;
  bool flush_ordered_ = false;
  std::map<subscriber_key, remote_stream> streams_;
  std::map<std::uint64_t, subscriber_key> by_number_;
  std::uint64_t last_number_ = 0;  // of streams and requests
  std::map<std::uint64_t, pending> pending_;
  std::deque<unsent_event> unsent_;
  std::size_t unsent_bytes_ = 0;
  std::map<std::uint64_t, runtime::actor_ref> logs_;          // streamers by request
  std::map<std::uint64_t, served_stream> container_streams_;  // by request
  std::deque<output_piece> outputs_;  // pieces that wait for room, at most one per stream
  std::uint64_t sessions_ = 0, commits_ = 0, lost_ = 0, events_ = 0;
  runtime::timer round_, sweep_, again_, outputs_again_;
};

runtime::actor_ref spawn_gateway(runtime::actor_system& system, gateway_options options);

// For a dialer, or one end of a loopback link.
runtime::link::acceptor gateway_acceptor(runtime::actor_ref gateway);

}  // namespace troupe::actors
