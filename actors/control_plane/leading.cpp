#include "actors/control_plane/leading.hpp"

#include <utility>

#include "actors/access/role_aggregator.hpp"
#include "actors/controllers/jobs/orphan_pods.hpp"
#include "actors/controllers/kit/owner_supervisor.hpp"
#include "actors/controllers/registry.hpp"
#include "actors/core/log.hpp"
#include "actors/definitions/definition_controller.hpp"
#include "actors/garbage/garbage_collector.hpp"
#include "actors/namespaces/namespaces.hpp"
#include "actors/nodes/minions.hpp"
#include "actors/pods/pods.hpp"
#include "actors/scheduler/scheduler.hpp"
#include "actors/tokens/token_cleaner.hpp"
#include "actors/tokens/token_secrets.hpp"
#include "actors/write/writer.hpp"

namespace troupe::actors {

template <class A, class... Args>
runtime::actor_ref leading::start(const char* kind, const char* name, Args... args) {
  auto ref = system_.spawn({.kind = kind, .name = name}, runtime::make<A>(std::move(args)...));
  started_.push_back(ref);
  return ref;
}

leading::leading(const context& of, const control_plane_options& options) : system_{of.system} {
  const persistence::store* store = &of.store;
  log().info("control plane: leads from revision {} on", store->read().at());
  auto core = of.core;
  core.writer =
      start<writer>("term-writer", "term-writer", of.writes,
                    writer_options{.conflict_chance = options.conflict_chance, .gate = gate_});
  start<namespaces>("namespaces", "namespaces", store, core);
  start<definition_controller>("definition-controller", "definition-controller", store, core);
  start<garbage_collector>("garbage-collector", "garbage-collector", store, core);
  start<minions>("supervisor", "minions", store, core, options.node_grace);
  start<access::role_aggregator>("role-aggregator", "role-aggregator", core);
  start<token_cleaner>("token-cleaner", "token-cleaner", core);
  if (options.issuer)
    start<token_secrets>("token-secrets", "token-secrets", store, core,
                         token_secret_options{.issuer = options.issuer,
                                              .authority = options.authority,
                                              .one_for_each = options.legacy_token_secrets});
  auto scheduler = spawn_scheduler(system_, core, {.profile = options.scheduler_profile});
  started_.push_back(scheduler);
  start<pods>("supervisor", "pods", core.watcher,
              pod_context{&of.store, core.writer, scheduler, core.recorder}, pods_options{});
  start<jobs::orphan_pods>("job-orphan-pods", "job-orphan-pods", store, core);
  for (const auto& each : known_controllers())
    started_.push_back(start_controller(system_, each, core, of.store, options.authority));
}

leading::~leading() {
  gate_->close();
  for (auto ref = started_.rbegin(); ref != started_.rend(); ++ref)
    system_.stop(*ref);
  log().info("control plane: does not lead any more");
}

}  // namespace troupe::actors
