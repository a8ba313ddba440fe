#include "actors/controllers/stateful_sets/stateful_sets.hpp"

#include "actors/controllers/stateful_sets/stateful_set_controller.hpp"

namespace troupe::actors::stateful_sets {

controller_type controller() {
  return {.name = "stateful_sets",
          .purpose = "pods with stable names and claims, created and replaced in order",
          .owners = {selecting_owner<api::apps::v1::StatefulSet>("statefulset",
                                                                 "statefulset-controller")},
          .dependents = {&api::kind_of<api::core::v1::Pod>(),
                         &api::kind_of<api::apps::v1::ControllerRevision>()},
          .make = make_controller<stateful_set_controller>};
}

}  // namespace troupe::actors::stateful_sets
