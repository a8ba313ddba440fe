#include "actors/control_plane/leading_actors.hpp"

#include <tuple>
#include <utility>

#include "actors/access/role_aggregator.hpp"
#include "actors/certificates/certificate_requests.hpp"
#include "actors/controllers/jobs/orphan_pods.hpp"
#include "actors/controllers/kit/owner_supervisor.hpp"
#include "actors/controllers/registry.hpp"
#include "actors/definitions/api_service_registrar.hpp"
#include "actors/definitions/definition_controller.hpp"
#include "actors/garbage/garbage_collector.hpp"
#include "actors/namespaces/namespaces.hpp"
#include "actors/nodes/minions.hpp"
#include "actors/nodes/pod_range_allocator.hpp"
#include "actors/pods/pods.hpp"
#include "actors/quota/quota_status.hpp"
#include "actors/scheduler/scheduler.hpp"
#include "actors/tokens/token_cleaner.hpp"
#include "actors/tokens/token_secrets.hpp"
#include "actors/volumes/control/claim_controller.hpp"
#include "actors/volumes/control/volume_binder.hpp"

namespace troupe::actors {
namespace {

// An actor of class A, constructed with the tuple that `arguments` returns.
template <class A, class Arguments>
leading_actor one(std::string kind, std::string name, std::string purpose, Arguments arguments) {
  const auto start = [kind, name, arguments](leading_context& of) {
    return std::apply(
        [&](auto&&... each) {
          return of.system.spawn({.kind = kind, .name = name},
                                 runtime::make<A>(std::forward<decltype(each)>(each)...));
        },
        arguments(of));
  };
  return {std::move(kind), std::move(name), std::move(purpose), start};
}

std::tuple<const persistence::store*, core_actors> store_and_core(leading_context& of) {
  return {&of.store, of.core};
}
std::tuple<core_actors> core_alone(leading_context& of) {
  return {of.core};
}

auto for_minions(leading_context& of) {
  return std::tuple{&of.store, of.core, of.options.node_grace};
}
auto for_quotas(leading_context& of) {
  return std::tuple{&of.store, of.core, of.quotas};
}
auto for_certificates(leading_context& of) {
  return std::tuple{&of.store, of.core, of.options.certificates};
}
auto for_pods(leading_context& of) {
  return std::tuple{of.core.watcher,
                    pod_context{&of.store, of.core.writer, of.scheduler, of.core.recorder},
                    pods_options{}};
}
auto for_binder(leading_context& of) {
  return std::tuple{&of.store, of.core,
                    volumes::binder_options{.make_class = of.options.local_path_class}};
}
auto for_pod_ranges(leading_context& of) {
  return std::tuple{&of.store, of.core, of.options.ranges_of_pods};
}
auto for_token_secrets(leading_context& of) {
  return std::tuple{&of.store, of.core,
                    token_secret_options{.issuer = of.options.issuer,
                                         .authority = of.options.authority,
                                         .one_for_each = of.options.legacy_token_secrets}};
}

template <class Condition>
leading_actor only_with(Condition holds, leading_actor made) {
  made.start = [holds, start = std::move(made.start)](leading_context& of) {
    return holds(of.options) ? start(of) : runtime::actor_ref{};
  };
  return made;
}
bool issuer(const control_plane_options& options) {
  return options.issuer != nullptr;
}
bool ranges(const control_plane_options& options) {
  return !options.ranges_of_pods.empty();
}

leading_actor scheduler_actor() {
  return {"scheduler", scheduler_options{}.name, "binds pods to nodes", [](leading_context& of) {
            if (!of.options.scheduler) return of.scheduler;
            of.scheduler =
                spawn_scheduler(of.system, of.core, {.profiles = of.options.scheduler_profiles});
            return of.scheduler;
          }};
}

leading_actor supervisor_of(const controller_type& type) {
  return {"supervisor", type.name, type.purpose, [&type](leading_context& of) {
            return start_controller(of.system, type, of.core, of.store,
                                    {.authority = of.options.authority,
                                     .default_load_balancer = of.options.default_load_balancer,
                                     .reserved_ports = of.options.reserved_ports});
          }};
}

}  // namespace

const std::vector<leading_actor>& leading_actors() {
  static const auto all = [] {
    std::vector<leading_actor> made{
        one<namespaces>("namespaces", "namespaces", "deletes the content of terminating namespaces",
                        store_and_core),
        one<definition_controller>("definition-controller", "definition-controller",
                                   "names and conditions of custom kinds", store_and_core),
        one<api_service_registrar>("api-service-registrar", "api-service-registrar",
                                   "APIServices of custom groups", store_and_core),
        one<garbage_collector>("garbage-collector", "garbage-collector",
                               "deletes objects whose owners are gone", store_and_core),
        one<minions>("supervisor", "minions", "readiness and taints of nodes", for_minions),
        one<access::role_aggregator>("role-aggregator", "role-aggregator",
                                     "rules of aggregated roles", core_alone),
        one<quota::quota_status>("quota-status", "quota-status", "status of ResourceQuotas",
                                 for_quotas),
        one<token_cleaner>("token-cleaner", "token-cleaner", "deletes expired tokens", core_alone),
        one<certificates::certificate_requests>("certificate-requests", "certificate-requests",
                                                "approves, signs and deletes certificate "
                                                "requests",
                                                for_certificates),
        only_with(issuer,
                  one<token_secrets>("token-secrets", "token-secrets",
                                     "Secrets with tokens of service accounts", for_token_secrets)),
        only_with(ranges,
                  one<pod_range_allocator>("pod-range-allocator", "pod-range-allocator",
                                           "addresses for the pods of each node", for_pod_ranges)),
        scheduler_actor(),
        one<pods>("supervisor", "pods", "deadlines, grace and evictions of pods", for_pods),
        one<jobs::orphan_pods>("job-orphan-pods", "job-orphan-pods",
                               "removes the finalizers of pods whose Job is gone", store_and_core),
        one<volumes::volume_binder>("volume-binder", "volume-binder",
                                    "binds claims to volumes, and provisions volumes", for_binder),
        one<volumes::claim_controller>("claim-controller", "claim-controller",
                                       "protects claims and volumes that are in use",
                                       store_and_core),
    };
    for (const auto& type : known_controllers())
      made.push_back(supervisor_of(type));
    return made;
  }();
  return all;
}

}  // namespace troupe::actors
