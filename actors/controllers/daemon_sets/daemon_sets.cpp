#include "actors/controllers/daemon_sets/daemon_sets.hpp"

#include "actors/controllers/daemon_sets/daemon_set_controller.hpp"
#include "api/schema/core_node.pb.h"

namespace troupe::actors::daemon_sets {

controller_type controller() {
  auto owner = selecting_owner<api::apps::v1::DaemonSet>("daemonset", "daemonset-controller");
  owner.observes = [](const api::object&) { return api::label_selector{}; };  // all nodes
  return {.name = "daemon_sets",
          .purpose = "one pod on each suitable node",
          .owners = {std::move(owner)},
          .dependents = {&api::kind_of<api::core::v1::Pod>(),
                         &api::kind_of<api::apps::v1::ControllerRevision>()},
          .make = make_controller<daemon_set_controller>,
          .observed = {&api::kind_of<api::core::v1::Node>()}};
}

}  // namespace troupe::actors::daemon_sets
