// The control plane's end of one node's link: carries out what the node asks of writer, watcher and
// recorder, as far as it may (node_permissions.hpp), and sends what they answer.
//
// It owns the streams of the node and what was asked of it; the truth stays in the store. A crash
// ends it for good and with it the session: the node calls again and goes on from what it has seen.
// A peer that does not read costs `link_defaults::backlog_limit_bytes` and then its session.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "actors/doors.hpp"
#include "actors/follower.hpp"
#include "actors/link/arrival.hpp"
#include "actors/link/asks.hpp"
#include "actors/link/frame_sender.hpp"
#include "actors/link/frames.pb.h"
#include "actors/link/node_permissions.hpp"

namespace troupe::actors {

class link_table;

struct node_session_surroundings {
  persistence::store* truth = nullptr;
  doors to;
  std::shared_ptr<link_table> table;
};

// From `links`: a question of the console, with the promise of its answer.
struct node_question {
  ask_console what;
  std::shared_ptr<runtime::promise<console_view>> answer;
};

class node_session : public follower {
 public:
  node_session(std::string node, std::shared_ptr<arrival> on, node_session_surroundings around);
  ~node_session() override;

  const runtime::behavior& make_behavior() const override;
  void started() override;
  std::string describe() const override;

 private:
  // A stream of the node at the watcher. Its number there is one above those of `follower`.
  struct node_stream {
    std::uint64_t number = 0;  // at the watcher
    wire::Subscribe what;
    revision last = 0;
    bool synced = false;
    std::int64_t credit = 0;  // given by the node and not used
  };
  struct asked_log {
    runtime::actor_ref reader;
    std::uint64_t id = 0;  // the reader's
    std::int64_t credit = 0;
  };
  struct asked_view {
    std::shared_ptr<runtime::promise<console_view>> answer;
    runtime::time_point until;
  };
  struct flush {};

  // -- from the link
  void on_frame(const frame_arrived& m);
  void on_link_ended(const link_ended& m);
  void take(const wire::FromNode::Item& item);
  // -- the node's streams
  void on_subscribe(const wire::Subscribe& m);
  void on_more(const wire::More& m);
  void on_bookmark_now(const wire::BookmarkNow& m);
  void on_unsubscribe(const wire::Unsubscribe& m);
  void subscribe_again(node_stream& s);
  void end_stream(std::uint64_t stream, const persistence::error& why, bool is_refusal);
  void ask_after_streams();
  // -- the node's requests
  void on_commit(const wire::Commit& m);
  void on_evict(const wire::Evict& m);
  void on_remove(const wire::Remove& m);
  void on_record_event(const wire::RecordEvent& m);
  template <class Command>
  void order(std::uint64_t id, Command what, const api::expected<void>& allowed);
  persistence::expected<persistence::transaction> prepared(persistence::transaction what);
  bool room_for_request();
  void commit_answered(std::uint64_t id, const persistence::outcome& result);
  void command_answered(std::uint64_t id, const api::expected<api::object_ptr>& result);
  // -- from the watcher
  void on_watch(const watch_events& m);
  void on_watch_end(const watch_ended& m);
  void on_pods(const watch_events& m);
  void on_node(const watch_events& m);
  // -- what is asked of the node (node_session_asks.cpp)
  void on_open_log(const open_log& m);
  void on_more_log(const more_log& m);
  void on_finish_log(const finish_log& m);
  void on_close_log(const close_log& m);
  void on_node_question(const node_question& m);
  void on_log_part(const wire::LogPart& m);
  void on_console_answer(const wire::ConsoleAnswer& m);
  std::uint64_t ask_of(std::uint64_t id) const;
  void forget_dead_readers();
  void end_asks(const std::string& why);

  void on_flush(const flush&);
  void say(wire::ToNode::Item& item);
  void leave(const std::string& reason);

  const std::string node_;
  const std::shared_ptr<arrival> on_;
  const node_session_surroundings around_;
  frame_sender out_;
  bool flush_ordered_ = false, leaving_ = false;
  node_references references_;
  bool pods_known_ = false;
  std::vector<wire::Subscribe> early_;                          // until the pods are known
  std::map<std::uint64_t, node_stream> streams_;                // by the node's number
  std::unordered_map<std::uint64_t, std::uint64_t> stream_of_;  // by the watcher's number
  std::uint64_t last_number_ = 0;
  std::size_t under_way_ = 0;
  std::map<std::uint64_t, asked_log> logs_;
  std::map<std::uint64_t, asked_view> questions_;
  std::uint64_t last_ask_ = 0;
  std::uint64_t commits_ = 0, refused_ = 0, events_ = 0;
  runtime::timer heartbeat_, again_, sweep_;
};

}  // namespace troupe::actors
