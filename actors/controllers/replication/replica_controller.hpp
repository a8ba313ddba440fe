// One ReplicationController or ReplicaSet: keeps as many pods as it asks for.
//
// The actor owns a tally of its pods and its expectations. Both come from a snapshot at a resync:
// at its start, when another object has its name or its selector has changed, when its supervisor
// may have missed changes, when expectations expire, and each `defaults::resync_period`. It reads
// the snapshot only after a fence (an empty transaction through the writer): whatever it or an
// earlier incarnation had sent to the writer is in the snapshot then, so that a crash between
// "create sent" and "create seen" makes no pod twice.
//
// A sync runs in three steps, each a batch of transactions that are sent at once and awaited
// together: claims (adopt, release), replicas (create in slow start, or delete the lowest ranked),
// status. A change that comes in meanwhile makes one more sync; a failed sync is tried again with
// back-off. Nothing here waits for another controller. While `defaults::waiting_pods` of its pods
// wait for a node it makes no more; a change that gives one a node continues the creation.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "actors/controllers/owner_supervisor.hpp"
#include "actors/controllers/replication/expectations.hpp"
#include "actors/controllers/replication/plan.hpp"
#include "actors/controllers/replication/replica_owner.hpp"
#include "actors/controllers/replication/replica_tally.hpp"
#include "actors/core/core_actors.hpp"
#include "actors/core/messages.hpp"
#include "runtime/actor.hpp"

namespace troupe::actors::replication {

class replica_controller : public runtime::actor {
 public:
  // `key`: of the object that it stands for. `store` outlives the actor.
  replica_controller(std::string key, core_actors core, const persistence::store& store);

  const runtime::behavior& make_behavior() const override;
  void started() override;
  std::string describe() const override;

 private:
  struct sync_due {};

  // -- messages from the supervisor ---------------------------------------------------------------
  void on_owner_event(const owner_event& change);
  void on_pod(const dependent_event& change);
  void on_resync_request(const resync_request&);
  // -- messages to itself -------------------------------------------------------------------------
  void on_sync_due(const sync_due&);

  // -- what it knows ------------------------------------------------------------------------------
  void resync();
  void fence();
  void load();
  void take_owner(api::object_ptr object);
  void take_pod(const std::string& key, const api::object_ptr& pod);
  void remove_pod(const std::string& key);
  void claim_again(const std::string& key);

  // -- one sync -----------------------------------------------------------------------------------
  using step = void (replica_controller::*)();
  void enqueue();
  void begin_sync();
  void claim_pods();
  void adjust_replicas();
  bool owner_stands() const;
  void create_pods(std::size_t count, std::size_t waiting);
  void create_batch();
  void create_one(int tries_left);
  void no_room(const persistence::error& refusal);
  void delete_pods(std::size_t count);
  void delete_one(const api::object_ptr& pod);
  void report_status();
  void write_status(int tries_left);
  void end_sync();

  // -- transactions -------------------------------------------------------------------------------
  using answer = tl::expected<const commit_done*, runtime::request_error>;
  // Sends and counts it; when all that were sent have been answered, `next_` runs.
  template <class F>
  void send_transaction(persistence::transaction transaction, F on_answer);
  void settle();
  void adopt(const api::object_ptr& pod);
  void release(const api::object_ptr& pod);
  void record(bool warning, std::string reason, std::string message);
  void failed(std::string reason, std::string message);
  persistence::change_cause change_cause() const;
  std::int64_t wall_seconds() const;

  const std::string key_;
  const core_actors core_;
  const persistence::store& store_;

  // What it knows; valid once `loaded_`.
  bool loaded_ = false;
  bool stale_ = false;               // to resync as soon as no sync is under way
  bool fencing_ = false;             // is about to
  persistence::revision known_ = 0;  // changes up to here are in the snapshot that was loaded
  std::optional<replica_owner> owner_;
  replica_tally tally_;
  std::map<std::string, api::object_ptr> to_adopt_, to_release_;
  expectations expectations_;

  // The sync that is under way.
  bool syncing_ = false, dirty_ = false, due_ = false;
  std::size_t under_way_ = 0;
  step next_ = nullptr;
  slow_start starter_{0};
  std::optional<replica_failure> failure_;
  // The cluster holds as many pods as it may: no creation is tried before `until`.
  struct full_cluster {
    replica_failure failure;
    runtime::time_point until;
  };
  std::optional<full_cluster> full_;
  runtime::duration room_pause_{0};
  std::int64_t pause_told_ = -1;  // the generation whose pods were said to wait for nodes
  bool retry_ = false;            // something changed meanwhile: sync again, it is no failure

  std::int64_t reported_for_ = 0;  // the second for which the status was last calculated
  runtime::duration backoff_{0};
  runtime::timer fence_timer_, retry_timer_, expiry_timer_, recheck_timer_, resync_timer_;
  std::uint64_t syncs_ = 0, created_ = 0, deleted_ = 0;
};

// Neighbours of each pod for ranking: active pods of controllers with the same owner, by node.
std::vector<std::int32_t> count_neighbours(const persistence::snapshot& state,
                                           const replica_owner& owner,
                                           const std::vector<const pod_record*>& pods);

}  // namespace troupe::actors::replication
