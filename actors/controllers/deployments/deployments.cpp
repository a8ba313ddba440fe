#include "actors/controllers/deployments/deployments.hpp"

#include "actors/controllers/deployments/deployment_controller.hpp"

namespace troupe::actors::deployments {

controller_type controller() {
  return {
      .name = "deployments",
      .purpose = "a ReplicaSet for each version of its pod template, and rolling updates",
      .owners = {selecting_owner<api::apps::v1::Deployment>("deployment", "deployment-controller")},
      .dependents = {&api::kind_of<api::apps::v1::ReplicaSet>()},
      .make = make_controller<deployment_controller>};
}

}  // namespace troupe::actors::deployments
