#include "actors/control_plane/control_plane.hpp"

#include <utility>
#include <vector>

#include "actors/access/policy.hpp"
#include "actors/access/role_aggregator.hpp"
#include "actors/controllers/kit/owner_supervisor.hpp"
#include "actors/controllers/registry.hpp"
#include "actors/defaults.hpp"
#include "actors/events/recorder.hpp"
#include "actors/garbage/garbage_collector.hpp"
#include "actors/link/node_links.hpp"
#include "actors/namespaces/namespaces.hpp"
#include "actors/nodes/minions.hpp"
#include "actors/pods/pods.hpp"
#include "actors/scheduler/scheduler.hpp"
#include "actors/tokens/token_cleaner.hpp"
#include "actors/watch/watcher.hpp"
#include "actors/write/admission/service_addresses.hpp"
#include "actors/write/writer.hpp"
#include "api/invariant.hpp"

namespace troupe::actors {

namespace {

// The built-in plugins, and the addresses of Services behind them.
std::shared_ptr<const admission::chain> chain_with(admission::outside_list outside) {
  auto plugins = admission::built_in_plugins();
  const auto addresses = service_addresses::in(defaults::service_network);
  api::ensure(addresses.has_value(), "the service network is IPv4 in CIDR form");
  plugins.push_back(std::make_shared<service_addresses>(*addresses));
  return std::make_shared<admission::chain>(std::move(plugins), std::move(outside));
}

}  // namespace

struct control_plane::impl {
  runtime::actor_system& system;
  persistence::store& store;
  std::shared_ptr<actors::capacity> capacity;
  std::shared_ptr<write_service> writes = {};
  actors::core_actors core_actors = {};
  std::unique_ptr<node_links> links = {};
  std::vector<runtime::actor_ref> started = {};
  std::shared_ptr<const access::policy> policy = {};

  template <class A, class... Args>
  runtime::actor_ref start(const char* kind, const char* name, Args... args) {
    auto ref = system.spawn({.kind = kind, .name = name}, runtime::make<A>(std::move(args)...));
    started.push_back(ref);
    return ref;
  }

  template <class Command>
  void send_command(Command command, std::uint64_t request,
                    std::function<void(api::expected<api::object_ptr>)> done) {
    system.request<command_done>(
        core_actors.writer, std::move(command), defaults::write_timeout,
        [done = std::move(done)](tl::expected<const command_done*, runtime::request_error> reply) {
          if (reply) return done((*reply)->result);
          done(api::fail(api::service_unavailable(std::string{"the writer did not answer: "} +
                                                  runtime::to_string(reply.error()))));
        },
        {.request = request});
  }
};

control_plane::control_plane(runtime::actor_system& system, persistence::store& store,
                             control_plane_options options)
    : impl_{new impl{system, store, std::make_shared<actors::capacity>(options.capacity)}} {
  const auto& capacity = impl_->capacity;
  impl_->writes =
      std::make_shared<write_service>(store, system.time(),
                                      write_options{.capacity = capacity,
                                                    .chain = chain_with(std::move(options.outside)),
                                                    .threads = options.reading_thread});
  capacity->nodes_take(pods_taken_by_nodes(store.read()));
  auto reader = options.reading_thread ? std::make_shared<runtime::worker_pool>(
                                             "log-reader", 1, defaults::log_queue_limit)
                                       : nullptr;
  auto& core_actors = impl_->core_actors;
  core_actors.watcher = impl_->start<watcher>("watcher", "watcher", &store,
                                              watcher_options{.log_reader = std::move(reader)});
  core_actors.writer =
      impl_->start<writer>("writer", "writer", impl_->writes,
                           writer_options{.conflict_chance = options.conflict_chance});
  const auto policy = std::make_shared<access::policy>();
  impl_->policy = policy;
  store.observe([to = core_actors.watcher, policy](persistence::change_batch batch) {
    // Before the clients are told: what they ask next is judged by what they have changed.
    policy->take(*batch);
    const auto& last = batch->back();
    const runtime::cause cause{last.cause.request, last.at};
    to.tell(committed{std::move(batch)}, cause);
  });
  policy->load(store);
  core_actors.recorder =
      impl_->start<recorder>("recorder", "recorder", &store, core_actors.writer, options.events);
  impl_->links = std::make_unique<node_links>(system, store, core_actors);
  impl_->started.push_back(impl_->links->actor());
  if (!options.controllers) return;
  impl_->start<namespaces>("namespaces", "namespaces", &store, core_actors);
  impl_->start<garbage_collector>("garbage-collector", "garbage-collector", &store, core_actors);
  impl_->start<minions>("supervisor", "minions", &store, core_actors, options.node_grace, capacity);
  impl_->start<access::role_aggregator>("role-aggregator", "role-aggregator", core_actors);
  impl_->start<token_cleaner>("token-cleaner", "token-cleaner", core_actors);
  auto scheduler = spawn_scheduler(system, core_actors, {.profile = options.scheduler_profile});
  impl_->started.push_back(scheduler);
  impl_->start<pods>("supervisor", "pods", core_actors.watcher,
                     pod_context{&store, core_actors.writer, scheduler, core_actors.recorder},
                     pods_options{});
  for (const auto& each : known_controllers())
    impl_->started.push_back(start_controller(system, each, core_actors, store));
}

control_plane::~control_plane() {
  impl_->store.observe([](const persistence::change_batch&) {});
  for (auto ref = impl_->started.rbegin(); ref != impl_->started.rend(); ++ref) {
    impl_->system.stop(*ref);
  }
}

const actors::core_actors& control_plane::core_actors() const noexcept {
  return impl_->core_actors;
}
const node_links& control_plane::links() const noexcept {
  return *impl_->links;
}
const std::shared_ptr<const access::policy>& control_plane::policy() const noexcept {
  return impl_->policy;
}
runtime::actor_system& control_plane::system() noexcept {
  return impl_->system;
}
persistence::store& control_plane::store() noexcept {
  return impl_->store;
}

write_service& control_plane::writes() noexcept {
  return *impl_->writes;
}

void control_plane::commit(persistence::transaction transaction, std::uint64_t request,
                           std::function<void(persistence::outcome)> done) {
  if (transaction.cause.request == 0) transaction.cause.request = request;
  impl_->writes->submit(std::move(transaction), std::move(done));
}

void control_plane::bind(actors::bind binding, std::uint64_t request,
                         std::function<void(api::expected<api::object_ptr>)> done) {
  impl_->send_command(std::move(binding), request, std::move(done));
}

void control_plane::evict(actors::evict eviction, std::uint64_t request,
                          std::function<void(api::expected<api::object_ptr>)> done) {
  impl_->send_command(std::move(eviction), request, std::move(done));
}

}  // namespace troupe::actors
