#include "actors/deployments/deployments.hpp"

#include "actors/deployments/deployment_controller.hpp"
#include "actors/owner_supervisor.hpp"
#include "api/scheme.hpp"

namespace troupe::actors {

runtime::actor_ref spawn_deployments(runtime::system& company, const doors& to,
                                     const persistence::store& truth) {
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
          [to, truth = &truth](const std::string& key) {
            return std::make_unique<deployments::deployment_controller>(key, to, *truth);
          }};
  return company.spawn({.kind = "supervisor", .name = "deployments"},
                       runtime::make<owner_supervisor>(to.watcher, sets_of_deployments));
}

}  // namespace troupe::actors
