// The company of one control plane: writer, watcher, scheduler, controllers and their supervisors,
// put together over a store and a system of actors. The API server and the kubelets work through it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "actors/messages.hpp"
#include "persistence/store.hpp"
#include "runtime/system.hpp"

namespace troupe::actors {

struct control_plane_options {
  // Which scheduler profile of `scheduler/profile.hpp` runs: "today" or "2014".
  std::string scheduler_profile = "today";
  // False: only writer and watcher (tests of the doors).
  bool controllers = true;
};

// The handles that others need; valid as long as the control plane.
struct doors {
  runtime::actor_ref writer;
  runtime::actor_ref watcher;
  runtime::actor_ref recorder;
};

class control_plane {
 public:
  // Starts everything; the store must outlive it. Returns at once: controllers find their work by
  // the watcher.
  control_plane(runtime::system& company, persistence::store& truth, control_plane_options options);
  // Ends the actors that it started.
  ~control_plane();

  const actors::doors& doors() const noexcept;
  runtime::system& company() noexcept;
  persistence::store& truth() noexcept;

  // From any thread: a transaction through the writer; `done` runs on a thread that must not block.
  void commit(persistence::transaction what, std::uint64_t request,
              std::function<void(persistence::outcome)> done);
  void bind(actors::bind what, std::uint64_t request,
            std::function<void(api::expected<api::object_ptr>)> done);

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace troupe::actors
