// An actor between subscribers and the watcher: delays subscriptions to one kind until `show_all`,
// as when the watcher has crashed while it handled them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "actors/core/messages.hpp"
#include "runtime/actor.hpp"
#include "runtime/actor_system.hpp"
#include "support/cluster.hpp"

namespace troupe::test {

struct show_all {};

class late_watcher : public runtime::actor {
 public:
  late_watcher(runtime::actor_ref watcher, std::string late)
      : watcher_{std::move(watcher)}, late_{std::move(late)} {}

  const runtime::behavior& make_behavior() const override {
    static const auto table =
        runtime::handlers(&late_watcher::on_subscribe, &late_watcher::pass<actors::more>,
                          &late_watcher::pass<actors::unsubscribe>, &late_watcher::on_show_all,
                          &late_watcher::give_back<actors::watch_events>,
                          &late_watcher::give_back<actors::watch_ended>);
    return table;
  }

 private:
  void on_subscribe(const actors::subscribe& m) {
    subscribers_[m.id] = sender();
    if (m.prefix == late_)
      waiting_.push_back(m);
    else
      tell(watcher_, m);
  }
  void on_show_all(const show_all&) {
    late_.clear();
    for (const auto& each : std::exchange(waiting_, {}))
      tell(watcher_, each);
  }
  template <class M>
  void pass(const M& m) {
    tell(watcher_, m);
  }
  template <class M>
  void give_back(const M& m) {
    tell(subscribers_.at(m.id), m);
  }

  const runtime::actor_ref watcher_;
  std::string late_;
  std::vector<actors::subscribe> waiting_;
  std::map<std::uint64_t, runtime::actor_ref> subscribers_;
};

inline runtime::actor_ref spawn_late_watcher(cluster& c, const api::kind_info& late) {
  return c.simulation().system().spawn(
      {.kind = "late-watcher", .name = "late-watcher"},
      runtime::make<late_watcher>(c.plane().core_actors().watcher, late.prefix()));
}

}  // namespace troupe::test
