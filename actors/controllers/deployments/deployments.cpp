#include "actors/controllers/deployments/deployments.hpp"

#include "actors/controllers/deployments/deployment_controller.hpp"
#include "actors/controllers/owner_supervisor.hpp"
#include "api/scheme.hpp"

namespace troupe::actors {

runtime::actor_ref spawn_deployments(runtime::actor_system& system, const core_actors& core,
                                     const persistence::store& store) {
  using api::apps::v1::Deployment;
  ownership sets_of_deployments{
      .owners = {{&api::kind_of<Deployment>(), "deployment"}},
      .dependents = &api::kind_of<api::apps::v1::ReplicaSet>(),
      .selector_of =
          [](const api::object& object) {
            return api::label_selector::from(object.as<Deployment>().spec().selector())
                .value_or(api::label_selector::nothing());
          },
      .make_controller =
          [core, store = &store](const std::string& key) {
            return std::make_unique<deployments::deployment_controller>(key, core, *store);
          }};
  return system.spawn({.kind = "supervisor", .name = "deployments"},
                      runtime::make<owner_supervisor>(core.watcher, sets_of_deployments));
}

}  // namespace troupe::actors
