// One Deployment: keeps a ReplicaSet for the present template and moves the pods over to it.
//
// The actor owns a copy of its Deployment and ReplicaSets, kept up to date by its supervisor and by
// the answers to its own writes; after a restart it reads them from a snapshot. A sync decides one
// batch of transactions with the pure rules (rolling.hpp, deployment_view.hpp,
// deployment_status.hpp), sends it, and ends when all are answered; what the writes bring about
// wakes the next sync. Each write has the state that it was decided on as its precondition, so a
// decision on stale knowledge fails and is made again.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "actors/controllers/deployments/deployment_status.hpp"
#include "actors/controllers/deployments/deployment_view.hpp"
#include "actors/controllers/owner_supervisor.hpp"
#include "actors/core/core_actors.hpp"
#include "actors/core/messages.hpp"
#include "runtime/actor.hpp"

namespace troupe::actors::deployments {

class deployment_controller : public runtime::actor {
 public:
  deployment_controller(std::string key, core_actors core, const persistence::store& store);

  const runtime::behavior& make_behavior() const override;
  void started() override;
  std::string describe() const override;

 private:
  struct sync_due {};

  // -- messages from the supervisor ---------------------------------------------------------------
  void on_owner_event(const owner_event& change);
  void on_set(const dependent_event& change);
  void on_resync_request(const resync_request&);
  // -- messages to itself -------------------------------------------------------------------------
  void on_sync_due(const sync_due&);

  // -- what it knows ------------------------------------------------------------------------------
  void load();
  void take_set(const api::object_ptr& set);

  // -- one sync -----------------------------------------------------------------------------------
  void enqueue();
  void sync();
  void end_sync();
  void note_pause();
  // Each answers whether it sent anything: then the rest waits for the next sync.
  bool claim_sets();
  bool keep_revision(const set_family& family);
  bool scale_family(const set_family& family);
  bool roll(const set_family& family);
  bool recreate(const set_family& family);
  bool make_new_set(const set_family& family);
  bool resize_set(const set_view& set, std::int32_t size);
  void clean_up(const set_family& family);
  void report(const set_family& family);
  bool pods_left(const set_family& family) const;

  // -- transactions -------------------------------------------------------------------------------
  template <class F>
  void write(persistence::transaction transaction, F on_success);
  void replace(const api::object_ptr& before, std::unique_ptr<api::body> after,
               std::string announce = {});
  void record(bool warning, std::string reason, std::string message);
  persistence::change_cause change_cause() const;
  std::int64_t wall_seconds() const;

  const std::string key_;
  const core_actors core_;
  const persistence::store& store_;

  bool loaded_ = false;
  persistence::revision known_ = 0;
  std::optional<deployment_view> deployment_;
  std::map<std::string, api::object_ptr> sets_;  // by key: those it owns, or may adopt or release

  bool syncing_ = false, dirty_ = false, due_ = false, retry_ = false;
  bool collided_ = false;  // the new set's name was taken by another template
  std::size_t under_way_ = 0;
  std::optional<progress_note> note_;
  std::optional<std::string> failure_;
  runtime::duration backoff_{0};
  runtime::timer retry_timer_, recheck_timer_, deadline_timer_, resync_timer_;
  std::uint64_t syncs_ = 0;
};

}  // namespace troupe::actors::deployments
