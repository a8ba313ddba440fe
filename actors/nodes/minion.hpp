// The actor of one node: monitors the node's heartbeats and updates the Node according to its
// silence or its conditions, above all the taints that keep pods away.
//
// A heartbeat is a renewed Lease or a posted status. Its time is that of arrival here, so a clock
// jump makes no node silent. After a start every node gets the full grace period.
#pragma once

#include <memory>
#include <string>

#include "actors/core/core_actors.hpp"
#include "actors/core/messages.hpp"
#include "actors/nodes/node_rules.hpp"
#include "persistence/store/store.hpp"
#include "runtime/actor.hpp"

namespace troupe::actors {

// From the supervisor: whether the node's pods may be evicted if it is not ready.
struct eviction_permission {
  bool granted = false;
};

class minion : public runtime::actor {
 public:
  // The store must outlive it. `grace`: maximum time without a heartbeat.
  minion(const persistence::store* store, core_actors core, runtime::duration grace)
      : store_{store}, core_{std::move(core)}, grace_{grace} {}

  const runtime::behavior& make_behavior() const override;
  void started() override;
  std::string describe() const override;

 private:
  // -- messages from the supervisor
  void on_owner_event(const owner_event& m);
  void on_dependent_event(const dependent_event& m);
  void on_eviction_permission(const eviction_permission& m);

  void on_heartbeat();
  void check_silence();
  void reconcile();
  void report_not_ready();

  const persistence::store* store_;
  core_actors core_;
  const runtime::duration grace_;
  api::object_ptr node_;
  runtime::time_point last_heartbeat_{};
  bool silent_ = false;
  bool may_evict_ = false;
  bool writing_ = false;
  runtime::timer silence_;
  runtime::timer again_;
};

}  // namespace troupe::actors
