// One node's actor: watches that the node gives a sign of life, and writes on the Node what follows
// from its silence or its conditions, above all the taints that keep pods away.
//
// A sign of life is a renewed lease or a posted status, by the moment at which it is seen here: a
// jump of any clock makes no node silent. After a start every node is given the whole grace period.
#pragma once

#include <memory>
#include <string>

#include "actors/doors.hpp"
#include "actors/messages.hpp"
#include "actors/node_rules.hpp"
#include "persistence/store.hpp"
#include "runtime/actor.hpp"

namespace troupe::actors {

// From the supervisor: whether the node's pods may be sent away if it is not ready.
struct eviction_leave {
  bool granted = false;
};

class minion : public runtime::actor {
 public:
  // The store must outlive it. `grace`: the longest silence.
  minion(const persistence::store* truth, doors to, runtime::duration grace)
      : truth_{truth}, to_{std::move(to)}, grace_{grace} {}

  const runtime::behavior& make_behavior() const override;
  void started() override;
  std::string describe() const override;

 private:
  // -- messages from the supervisor
  void on_own_change(const own_change& m);
  void on_related_change(const related_change& m);
  void on_eviction_leave(const eviction_leave& m);

  void heard();
  void check_silence();
  void correct();
  void report_not_ready();

  const persistence::store* truth_;
  doors to_;
  const runtime::duration grace_;
  api::object_ptr node_;
  runtime::time_point heard_at_{};
  bool silent_ = false;
  bool may_evict_ = false;
  bool writing_ = false;
  runtime::timer silence_;
  runtime::timer again_;
};

}  // namespace troupe::actors
