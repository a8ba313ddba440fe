// The control plane's end of one node's link: executes the node's permitted requests
// (node_permissions.hpp) to writer, watcher and recorder, and sends the answers.
//
// It owns the node's streams and pending requests, but no stored data. After a crash it is not
// restarted and the session ends: the node reconnects and resumes after the last revision it has
// seen. A peer that does not read costs `link_defaults::backlog_limit_bytes`, then its session.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "actors/core/core_actors.hpp"
#include "actors/core/informer.hpp"
#include "actors/link/frame_inbox.hpp"
#include "actors/link/frame_sender.hpp"
#include "actors/link/frames.pb.h"
#include "actors/link/node_permissions.hpp"
#include "actors/link/node_requests.hpp"
#include "actors/link/session_streams.hpp"

namespace troupe::actors {

class link_table;

struct node_session_context {
  persistence::store* store = nullptr;
  core_actors core;
  std::shared_ptr<link_table> table;
  runtime::actor_ref tokens = {};  // answers request_token
};

// From `links`: a console request, with the promise of its answer.
struct node_console_request {
  ask_console request;
  std::shared_ptr<runtime::promise<console_view>> answer;
};

// From `links`: ask_usage, with the promise of its answer.
struct node_usage_request {
  std::shared_ptr<runtime::promise<node_usage>> answer;
};

class node_session : public informer {
 public:
  node_session(std::string node, std::shared_ptr<frame_inbox> inbox, node_session_context context);
  ~node_session() override;

  const runtime::behavior& make_behavior() const override;
  void started() override;
  std::string describe() const override;

 private:
  // A stream of the node at the watcher, with a number above those of `informer`.
  struct node_stream {
    std::uint64_t number = 0;  // at the watcher
    wire::Subscribe subscription;
    revision last = 0;
    bool synced = false;
    std::int64_t credit = 0;  // given by the node, unused
  };
  struct open_log_state {
    runtime::actor_ref reader;
    std::uint64_t id = 0;  // the reader's
    std::int64_t credit = 0;
  };
  struct console_request_state {
    std::shared_ptr<runtime::promise<console_view>> answer;
    runtime::time_point until;
  };
  struct usage_request_state {
    std::shared_ptr<runtime::promise<node_usage>> answer;
    runtime::time_point until;
  };
  struct flush {};

  // -- from the link
  void on_frame(const frame_received& m);
  void on_link_ended(const link_ended& m);
  void take(const wire::FromNode::Item& item);
  // -- the node's streams
  void on_subscribe(const wire::Subscribe& m);
  void on_more(const wire::More& m);
  void on_bookmark_now(const wire::BookmarkNow& m);
  void on_unsubscribe(const wire::Unsubscribe& m);
  void subscribe_again(node_stream& s);
  void end_stream(std::uint64_t stream, const persistence::error& error, bool is_refusal);
  void check_streams() override;
  // -- the node's requests
  void on_commit(const wire::Commit& m);
  void on_evict(const wire::Evict& m);
  void on_remove(const wire::Remove& m);
  void on_record_event(const wire::RecordEvent& m);
  void on_request_token(const wire::RequestToken& m);
  void token_answered(std::uint64_t id, const api::expected<granted_token>& result);
  template <class Command>
  void send_command(std::uint64_t id, Command command, const api::expected<void>& allowed);
  persistence::expected<persistence::transaction> prepare(persistence::transaction transaction);
  bool room_for_request();
  void commit_answered(std::uint64_t id, const persistence::outcome& result);
  void command_answered(std::uint64_t id, const api::expected<api::object_ptr>& result);
  // -- from the watcher
  void on_watch(const watch_events& m);
  void on_watch_end(const watch_ended& m);
  void on_pods(const watch_events& m);
  void on_node(const watch_events& m);
  // -- requests to the node (node_session_requests.cpp)
  void on_open_log(const open_log& m);
  void on_more_log(const more_log& m);
  void on_finish_log(const finish_log& m);
  void on_close_log(const close_log& m);
  void on_node_console_request(const node_console_request& m);
  void on_node_stream_request(const node_stream_request& m);
  void on_stream_work(const stream_work& m);
  void on_log_part(const wire::LogPart& m);
  void on_console_answer(const wire::ConsoleAnswer& m);
  template <class Item>
  void take_of_stream(const Item& m);
  void pump_streams();
  void check_stream_timeouts();
  // -- and node_session_usage.cpp
  void on_node_usage_request(const node_usage_request& m);
  void on_usage_answer(const wire::UsageAnswer& m);
  void forget_late_usage();
  void end_usage_requests(const std::string& reason);
  std::uint64_t log_of(std::uint64_t id) const;
  void forget_dead_readers();
  void end_requests(const std::string& reason);

  void on_flush(const flush&);
  void send_item(wire::ToNode::Item& item);
  void leave(const std::string& reason);

  const std::string node_;
  const std::shared_ptr<frame_inbox> inbox_;
  const node_session_context context_;
  frame_sender out_;
  bool flush_ordered_ = false, leaving_ = false;
  node_references references_;
  bool pods_known_ = false;
  std::vector<wire::Subscribe> early_;                          // until the pods are known
  std::map<std::uint64_t, node_stream> streams_;                // by the node's number
  std::unordered_map<std::uint64_t, std::uint64_t> stream_of_;  // by the watcher's number
  std::uint64_t last_number_ = 0;
  std::size_t under_way_ = 0;
  std::map<std::uint64_t, open_log_state> logs_;
  std::map<std::uint64_t, console_request_state> console_requests_;
  std::map<std::uint64_t, usage_request_state> usage_requests_;
  std::uint64_t last_request_ = 0;
  session_streams container_streams_;
  std::uint64_t commits_ = 0, refused_ = 0, events_ = 0;
  runtime::timer again_, sweep_, stream_turn_, stream_check_;
};

}  // namespace troupe::actors
