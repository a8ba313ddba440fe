#include "actors/replication/replication.hpp"

#include "actors/owner_supervisor.hpp"
#include "actors/replication/replica_controller.hpp"
#include "api/schema/apps_v1.pb.h"
#include "api/schema/core_pod.pb.h"
#include "api/schema/core_replication.pb.h"
#include "api/scheme.hpp"

namespace troupe::actors {

runtime::actor_ref spawn_replication(runtime::system& company, const doors& to,
                                     const persistence::store& truth) {
  using api::apps::v1::ReplicaSet;
  using api::core::v1::Pod;
  using api::core::v1::ReplicationController;
  ownership pods_of_sets{
      .owners = {{&api::kind_of<ReplicationController>(), "replicationcontroller"},
                 {&api::kind_of<ReplicaSet>(), "replicaset"}},
      .dependents = &api::kind_of<Pod>(),
      .selector_of =
          [](const api::object& object) {
            return &object.kind() == &api::kind_of<ReplicaSet>()
                       ? api::label_selector::from(object.as<ReplicaSet>().spec().selector())
                             .value_or(api::label_selector::nothing())
                       : api::label_selector::from(
                             object.as<ReplicationController>().spec().selector());
          },
      .make_controller =
          [to, truth = &truth](const std::string& key) {
            return std::make_unique<replication::replica_controller>(key, to, *truth);
          }};
  return company.spawn({.kind = "supervisor", .name = "replication"},
                       runtime::make<owner_supervisor>(to.watcher, pods_of_sets));
}

}  // namespace troupe::actors
