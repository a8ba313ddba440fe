// A term of leadership: what only one control plane of a cluster does at a time
// (leading_actors.hpp), from its start to its end.
//
// Its actors are caches of the store: each begins with what it finds there, the ones that must not
// do a thing twice behind a barrier. They write through a writer of the term's own. When the term
// ends that door is closed first; then the actors end, each after the message that it is handling.
// So the next term here may begin at once, while some of them still run: nothing that they do
// reaches the store. A command that is under way at the service (bind, evict, remove) may
// still be carried out once: it is judged by the newest state and harms nobody.
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
    // Of the term, where the store is shared with other control planes; else 0.
    revision fence = 0;
  };

  // Starts the actors; returns at once.
  leading(const context& of, const control_plane_options& options);
  // Ends them; returns at once.
  ~leading();
  leading(const leading&) = delete;
  leading& operator=(const leading&) = delete;

 private:
  runtime::actor_system& system_;
  const std::shared_ptr<write_gate> gate_ = std::make_shared<write_gate>();
  std::vector<runtime::actor_ref> started_;
};

}  // namespace troupe::actors
