// One watch of one client: an actor between the watcher, which sends it changes, and the client's
// stream, which takes bytes at the client's reading speed.
//
// It gives the watcher credit only for events that the stream has accepted, so a slow client costs
// the pointers within the credit and the stream's buffer. When the watcher restarts, it resumes at
// its position. When it crashes itself the stream ends, and the client reconnects, as after any
// broken connection.
#pragma once

#include <deque>
#include <string>

#include "actors/core/messages.hpp"
#include "runtime/actor.hpp"
#include "server/rest/calls/call.hpp"
#include "server/rest/watch/watch_form.hpp"

namespace troupe::server {

// Responds to the call with a watch, in its requested form or in the given one.
void start_watch(const call_ptr& call, list_options options);
void start_watch(const call_ptr& call, list_options options, std::shared_ptr<watch_form> form);

class watch_session : public runtime::actor {
 public:
  watch_session(call_ptr call, list_options options, std::shared_ptr<watch_form> form);
  ~watch_session() override;

  const runtime::behavior& make_behavior() const override;
  void started() override;
  std::string describe() const override;

 private:
  struct room {};
  struct client_gone {};
  struct delivery {
    actors::event_list events;
    bool initial = false;
    bool ends_initial = false;  // the initial events end here
    std::uint64_t up_to = 0;
    std::size_t next = 0;
    std::size_t first = 0;                 // first event of the revision of `next`
    std::size_t again = 0, again_end = 0;  // events that are sent again
  };

  // -- messages from the watcher
  void on_watch_events(const actors::watch_events& m);
  void on_watch_ended(const actors::watch_ended& m);
  // -- messages from the stream
  void on_room(const room& m);
  void on_client_gone(const client_gone& m);

  void subscribe();
  void send_waiting();
  void send_next(delivery& from);
  void send_event(const actors::watch_event& event, bool early);
  void send_bytes();
  void write(shared_text frame);
  void give_credit(std::uint32_t least);
  void on_timeout();
  void fail(const api::error& error);
  void finish();

  const call_ptr call_;
  const list_options options_;
  const runtime::actor_ref watcher_;
  const std::shared_ptr<watch_form> form_;
  std::uint64_t id_ = 0;        // id of the subscription
  std::uint64_t received_ = 0;  // the newest revision received; 0 before the initial state
  bool begun_ = false;
  bool initial_ = false;  // waiting for the initial state
  bool writable_ = true;
  bool ending_ = false;
  std::uint32_t consumed_ = 0;
  std::uint64_t sent_ = 0;
  std::deque<delivery> waiting_;  // bounded by the credit
  shared_text frame_;             // the frame being written
  std::size_t frame_at_ = 0;
  runtime::timer heartbeat_;
  runtime::timer deadline_;
};

}  // namespace troupe::server
