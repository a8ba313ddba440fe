// A term of leadership: runs the actors that only one control plane of a cluster may run
// (leading_actors.hpp), from construction to destruction.
//
// Its actors are caches of the store: each starts from the state of the store, after a barrier
// where a repeated action would do harm. They write through a writer of the term. At the end of the
// term its gate is closed first, then the actors stop, each after its current message. The next
// term may therefore start at once in this process: nothing from the old actors reaches the store.
// A command in flight at the service (bind, evict, remove) may still be executed once: it is
// checked against the newest state and does no harm.
#pragma once

#include <memory>
#include <vector>

#include "actors/control_plane/control_plane.hpp"
#include "actors/quota/quota_ledger.hpp"
#include "actors/write/write_gate.hpp"

namespace troupe::actors {

class leading {
 public:
  struct context {
    runtime::actor_system& system;
    persistence::store& store;
    std::shared_ptr<write_service> writes;
    std::shared_ptr<quota::quota_ledger> quotas;
    actors::core_actors core;
    // The fencing revision, if the store is shared with other control planes; otherwise 0.
    revision fence = 0;
  };

  // Starts the actors; returns at once.
  leading(const context& of, const control_plane_options& options);
  // Stops the actors; returns at once.
  ~leading();
  leading(const leading&) = delete;
  leading& operator=(const leading&) = delete;

 private:
  runtime::actor_system& system_;
  const std::shared_ptr<write_gate> gate_ = std::make_shared<write_gate>();
  std::vector<runtime::actor_ref> started_;
};

}  // namespace troupe::actors
