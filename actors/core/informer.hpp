// The base of every actor that watches parts of the store: it subscribes at the watcher, gives
// credit back as it goes, and finds the watcher again after a crash of either.
//
// An interrupted stream is resumed from the last revision seen, without the derived class noticing.
// A stream that cannot be resumed (its revision was compacted, or the initial state was cut short)
// means that the state of the actor may be stale: `stream_lost` then throws, and the actor starts
// again from the store as after any crash.
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
  // Entries for the derived class's table of handlers.
  void on_watch_events(const watch_events& m);
  void on_watch_ended(const watch_ended& m);

 protected:
  using stream = std::uint64_t;
  using on_events = std::function<void(const watch_events&)>;

  explicit informer(runtime::actor_ref watcher) : watcher_{std::move(watcher)} {}

  // Begins with the current state (`added` events up to the message that says `synced`), goes on
  // with changes. `deliver` is called in this actor.
  stream follow(std::string prefix, on_events deliver, stream_options options = {});
  // Nothing more of it is delivered.
  void unfollow(stream handle);

  // True once each stream has delivered its initial state.
  bool synced() const noexcept;

  // For supervisors that have been restarted: ends the children whose objects went meanwhile.
  void stop_children_except(const std::string& kind,
                            const std::function<bool(const std::string& name)>& keep);

  // Throws, unless overridden.
  virtual void stream_lost(const std::string& prefix, const persistence::error& reason);

  // Gives credit for each stream; of one that the watcher does not know `watch_ended` comes. When
  // the watcher has begun again, and once in a while.
  virtual void check_streams();
  // In a moment: the watcher's mailbox was full.
  void check_soon();

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
