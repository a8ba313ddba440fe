#include "actors/controllers/replication/replication.hpp"

#include "actors/controllers/owner_supervisor.hpp"
#include "actors/controllers/replication/replica_controller.hpp"
#include "api/schema/apps_v1.pb.h"
#include "api/schema/core_pod.pb.h"
#include "api/schema/core_replication.pb.h"
#include "api/scheme.hpp"

namespace troupe::actors {

runtime::actor_ref spawn_replication(runtime::actor_system& system, const core_actors& core,
                                     const persistence::store& store) {
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
          [core, store = &store](const std::string& key) {
            return std::make_unique<replication::replica_controller>(key, core, *store);
          }};
  return system.spawn({.kind = "supervisor", .name = "replication"},
                      runtime::make<owner_supervisor>(core.watcher, pods_of_sets));
}

}  // namespace troupe::actors
