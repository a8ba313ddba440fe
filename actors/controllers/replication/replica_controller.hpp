// One ReplicationController or ReplicaSet: keeps as many pods as it asks for.
//
// Its pods are kept in a tally that counts them as they change. What it has asked for and not seen
// yet stands in its expectations: until they are met it makes and deletes no more pods, and when
// they expire it reads everything again (reconciler.hpp).
//
// A sync has two steps after the claims, each a batch that is sent at once and awaited together:
// replicas (create in slow start, or delete the lowest ranked), status. While
// `defaults::waiting_pods` of its pods wait for a node it makes no more; a change that gives one a
// node continues the creation.
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
  // -- what it knows ------------------------------------------------------------------------------
  void owner_changed() override;
  bool claimable(const api::object_ptr& pod) const override;
  void take(const std::string& key, const api::object_ptr& pod) override;
  void forget(const std::string& key) override;
  void forget_all() override;
  const api::object* find(const std::string& key) const override;

  // -- one sync -----------------------------------------------------------------------------------
  void sync() override;
  void after_sync() override;
  void tell_scale(std::string_view direction, std::size_t steps) const;
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

  // The sync that is under way.
  slow_start starter_{0};
  std::optional<replica_failure> failure_;
  // The cluster holds as many pods as it may: no creation is tried before `until`.
  struct full_cluster {
    replica_failure failure;
    runtime::time_point until;
  };
  std::optional<full_cluster> full_;
  runtime::duration room_pause_{0};
  std::optional<replica_failure> paused_;  // as many pods wait for a node as may
  std::int64_t pause_told_ = -1;           // the generation whose pods were said to wait for nodes

  std::int64_t reported_for_ = 0;  // the second for which the status was last calculated
  std::uint64_t created_ = 0, deleted_ = 0;
};

// Neighbours of each pod for ranking: active pods of controllers with the same owner, by node.
std::vector<std::int32_t> count_neighbours(const persistence::snapshot& state,
                                           const replica_owner& owner,
                                           const std::vector<const pod_record*>& pods);

}  // namespace troupe::actors::replication
