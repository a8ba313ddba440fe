// The controller of one ReplicationController or ReplicaSet: keeps the desired number of pods.
//
// Its pods are in a tally that counts them incrementally. Creations and deletions that it has not
// seen yet are its expectations: until they are met it creates and deletes no more pods, and when
// they expire it resyncs (reconciler.hpp).
//
// After the claims a sync has two steps, each a batch whose writes are sent together and then
// awaited: replicas (create in slow start, or delete the lowest ranked), and status. While
// `defaults::waiting_pods` of its pods wait for a node it creates no more; an event that assigns
// one to a node resumes the creation.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "actors/controllers/kit/reconciler.hpp"
#include "actors/controllers/replication/expectations.hpp"
#include "actors/controllers/replication/plan.hpp"
#include "actors/controllers/replication/replica_owner.hpp"
#include "actors/controllers/replication/replica_tally.hpp"

namespace troupe::actors::replication {

class replica_controller : public reconciler {
 public:
  using reconciler::reconciler;
  std::string describe() const override;

 private:
  // -- state --------------------------------------------------------------------------------------
  void owner_changed() override;
  bool claimable(const api::object_ptr& pod) const override;
  void take(const std::string& key, const api::object_ptr& pod) override;
  void forget(const std::string& key) override;
  void forget_all() override;
  const api::object* find(const std::string& key) const override;

  // -- one sync -----------------------------------------------------------------------------------
  void sync() override;
  void after_sync() override;
  void log_scale(std::string_view direction, std::size_t steps) const;
  void create_pods(std::size_t count, std::size_t waiting);
  void create_batch();
  void create_one(int tries_left);
  void no_room(const persistence::error& refusal);
  void delete_pods(std::size_t count);
  void delete_one(const api::object_ptr& pod);
  void report_status();
  void write_status(int tries_left);
  void failed_to(std::string reason, std::string message);

  std::optional<replica_owner> set_;
  replica_tally tally_;
  expectations expectations_;

  // The current sync.
  slow_start starter_{0};
  std::optional<replica_failure> failure_;
  // The cluster's pod capacity is exhausted: no creation is tried before `until`.
  struct full_cluster {
    replica_failure failure;
    runtime::time_point until;
  };
  std::optional<full_cluster> full_;
  runtime::duration room_pause_{0};
  std::optional<replica_failure> paused_;  // the maximum of pods waits for nodes
  std::int64_t pause_logged_for_ = -1;     // the generation for which that was logged

  std::int64_t reported_for_ = 0;  // the second for which the status was last calculated
  std::uint64_t created_ = 0, deleted_ = 0;
};

// The neighbours of each pod for ranking: active pods of controllers with the same owner, by node.
std::vector<std::int32_t> count_neighbours(const persistence::snapshot& state,
                                           const replica_owner& owner,
                                           const std::vector<const pod_record*>& pods);

}  // namespace troupe::actors::replication
