// Starts one replica_controller for each ReplicationController and ReplicaSet and brings it its
// mail: changes of its own object, and of the pods that are or may become its own.
//
// Knows of each controller only what routing needs (uid, namespace, selector). A pod goes to the
// controller that owns it, to the one that owned it before the change, and, when nobody owns it, to
// those whose selector matches.
#pragma once

#include <map>
#include <string>
#include <unordered_map>

#include "actors/control_plane.hpp"
#include "actors/follower.hpp"
#include "api/selector.hpp"

namespace troupe::actors::replication {

class replication_supervisor : public follower {
 public:
  replication_supervisor(doors to, const persistence::store& truth);

  const runtime::behavior& make_behavior() const override;
  void started() override;
  std::string describe() const override;

 private:
  struct route {
    std::string key;
    std::string uid;
    std::string space;
    api::label_selector selector;
    runtime::actor_ref controller;
  };

  void on_owners(const watch_events& m);
  void on_pods(const watch_events& m);

  void take_owner(const watch_event& event);
  void lose_owner(const std::string& key);
  void forward_pod(const watch_event& event);
  void forward(const std::string& uid, const related_change& change);

  const doors to_;
  const persistence::store& truth_;
  std::map<std::string, route> routes_;  // by key of the owner
  std::unordered_map<std::string, std::string> key_by_uid_;
};

}  // namespace troupe::actors::replication

namespace troupe::actors {

runtime::actor_ref spawn_replication(runtime::system& company, const doors& to,
                                     const persistence::store& truth);

}  // namespace troupe::actors
