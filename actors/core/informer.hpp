// The base class of all actors that watch the store: it subscribes at the watcher, grants credit as
// it consumes events, and resubscribes after a crash of the watcher or of itself.
//
// An interrupted stream resumes from the last revision seen; the derived class does not notice. If
// a stream cannot be resumed (its revision was compacted, or the initial state was incomplete), the
// state of the actor may be stale: `stream_lost` throws, and the actor restarts from the store as
// after any crash.
//
//   class scheduler : public informer {
//     void started() override {
//       follow(api::kind_of<Node>().prefix(), [this](const watch_events& m) { on_nodes(m); });
//     }
//     const runtime::behavior& make_behavior() const override {
//       static const auto table = runtime::handlers(&scheduler::on_watch_events,
//                                                   &scheduler::on_watch_ended, ...);
//       return table;
//     }
//   };
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "actors/core/messages.hpp"
#include "actors/defaults.hpp"
#include "runtime/actor.hpp"
#include "runtime/restart_observer.hpp"

namespace troupe::actors {

struct stream_options {
  object_filter accept = {};  // empty: all
  std::string on_node = {};   // see `subscribe`
  std::uint32_t credit = defaults::stream_credit;
  bool bookmarks = false;
};

class informer : public runtime::actor {
 public:
  // Handlers for the derived class's dispatch table.
  void on_watch_events(const watch_events& m);
  void on_watch_ended(const watch_ended& m);

 protected:
  using stream = std::uint64_t;
  using on_events = std::function<void(const watch_events&)>;

  explicit informer(runtime::actor_ref watcher) : watcher_{std::move(watcher)} {}

  // Starts a stream: first the current state (`added` events until a message has `synced` set),
  // then changes. `deliver` is called in this actor.
  stream follow(std::string prefix, on_events deliver, stream_options options = {});
  // Ends a stream; none of its events is delivered afterwards.
  void unfollow(stream handle);

  // True once each stream has delivered its initial state.
  bool synced() const noexcept;

  // Stops the children whose objects were deleted while this supervisor restarted.
  void stop_children_except(const std::string& kind,
                            const std::function<bool(const std::string& name)>& keep);

  // Throws unless overridden.
  virtual void stream_lost(const std::string& prefix, const persistence::error& reason);

  // Grants credit for each stream; the watcher answers `watch_ended` if it does not know one.
  // Called after the watcher restarted and periodically.
  virtual void check_streams();
  // Calls `check_streams` soon; used when the watcher's mailbox was full.
  void schedule_check();

 private:
  struct state;

  void subscribe_again(state& s);
  void give_credit(state& s);
  void check_after_restart();

  runtime::actor_ref watcher_;
  std::vector<std::shared_ptr<state>> streams_;
  stream last_stream_ = 0;
  runtime::timer heartbeat_, check_;
  runtime::restart_observer restarted_;
};

}  // namespace troupe::actors
