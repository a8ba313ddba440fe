#include "actors/controllers/replication/replication.hpp"

#include "actors/controllers/replication/replica_controller.hpp"
#include "api/schema/apps_v1.pb.h"
#include "api/schema/core_pod.pb.h"
#include "api/schema/core_replication.pb.h"

namespace troupe::actors::replication {

controller_type controller() {
  return {
      .name = "replication",
      .purpose = "the desired number of pods",
      .owners = {selecting_owner<api::core::v1::ReplicationController>("replicationcontroller",
                                                                       "replication-controller"),
                 selecting_owner<api::apps::v1::ReplicaSet>("replicaset", "replicaset-controller")},
      .dependents = {&api::kind_of<api::core::v1::Pod>()},
      .make = make_controller<replica_controller>};
}

}  // namespace troupe::actors::replication
