// The company of one control plane: writer, watcher, scheduler, controllers and their supervisors,
// put together over a store and a system of actors. The API server and the kubelets work through
// it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "actors/capacity.hpp"
#include "actors/defaults.hpp"
#include "actors/doors.hpp"
#include "actors/event_rules.hpp"
#include "actors/messages.hpp"
#include "actors/scheduler/profile.hpp"
#include "persistence/store.hpp"
#include "runtime/system.hpp"

namespace troupe::actors {

struct control_plane_options {
  // Checked by scheduler::profile::make.
  scheduler::profile_options scheduler_profile = *scheduler::built_in_profile("today");
  // False: only writer, watcher and recorder (tests of the doors).
  bool controllers = true;
  // False: the watcher reads the change log itself. For simulations, which have one thread.
  bool reading_thread = true;
  // Chance that a transaction of an actor is answered with a conflict, untried; for simulations.
  double conflict_chance = 0;
  // A node that gives no sign of life for so long is called not ready.
  runtime::duration node_grace = defaults::node_grace;
  capacity_options capacity = {};
  // Events beyond are dropped, the oldest first.
  event_limits events = {};
};

class node_links;

class control_plane {
 public:
  // Starts everything. Returns at once: controllers find their work by the watcher. The store must
  // outlive the system, whose actors may still be handling a message when the control plane ends.
  control_plane(runtime::system& company, persistence::store& truth, control_plane_options options);
  // Ends the actors that it started.
  ~control_plane();

  const actors::doors& doors() const noexcept;
  // Those of the joined nodes.
  const node_links& links() const noexcept;
  runtime::system& company() noexcept;
  persistence::store& truth() noexcept;

  // From any thread: a transaction, handed to the store from this thread (the writer is the door
  // for actors, who need the answer by message); `done` runs on a thread that must not block. Both
  // doors keep the capacity of the cluster, and the keys of what Services have.
  void commit(persistence::transaction what, std::uint64_t request,
              std::function<void(persistence::outcome)> done);
  // Commands, carried out by the writer.
  void bind(actors::bind what, std::uint64_t request,
            std::function<void(api::expected<api::object_ptr>)> done);
  void evict(actors::evict what, std::uint64_t request,
             std::function<void(api::expected<api::object_ptr>)> done);

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace troupe::actors
