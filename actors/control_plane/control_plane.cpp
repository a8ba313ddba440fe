#include "actors/control_plane/control_plane.hpp"

#include <mutex>
#include <utility>
#include <vector>

#include "actors/access/node_graph.hpp"
#include "actors/access/policy.hpp"
#include "actors/control_plane/leading.hpp"
#include "actors/defaults.hpp"
#include "actors/definitions/custom_kinds.hpp"
#include "actors/events/recorder.hpp"
#include "actors/link/node_links.hpp"
#include "actors/nodes/node_capacity.hpp"
#include "actors/quota/quota_ledger.hpp"
#include "actors/tokens/token_provider.hpp"
#include "actors/usage/usage_collector.hpp"
#include "actors/watch/watcher.hpp"
#include "actors/write/admission/service_addresses.hpp"
#include "actors/write/writer.hpp"
#include "api/invariant.hpp"

namespace troupe::actors {

namespace {

// The built-in plugins, and the addresses of Services behind them.
std::shared_ptr<const admission::chain> chain_with(admission::external_step_list external,
                                                   const std::string& services_v6) {
  auto plugins = admission::built_in_plugins();
  const auto addresses = service_addresses::in(defaults::service_network, services_v6);
  api::ensure(addresses.has_value(), "the service networks are in CIDR form");
  plugins.push_back(std::make_shared<service_addresses>(*addresses));
  return std::make_shared<admission::chain>(std::move(plugins), std::move(external));
}

}  // namespace

struct control_plane::impl {
  runtime::actor_system& system;
  persistence::store& store;
  const control_plane_options options;
  const std::shared_ptr<actors::capacity> capacity =
      std::make_shared<actors::capacity>(options.capacity);
  const std::shared_ptr<quota::quota_ledger> quotas = std::make_shared<quota::quota_ledger>(store);
  std::shared_ptr<write_service> writes = {};
  actors::core_actors core_actors = {};
  runtime::actor_ref tokens = {};
  std::shared_ptr<node_links> links = {};  // the usage collector may outlive us
  std::vector<runtime::actor_ref> started = {};
  std::mutex mutex = {};
  std::unique_ptr<actors::leading> term = {};  // null: not leading
  std::shared_ptr<const access::policy> policy = {};
  std::shared_ptr<const access::node_graph> node_graph = {};

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
    : impl_{new impl{system, store, std::move(options)}} {
  const auto& capacity = impl_->capacity;
  const auto& given = impl_->options;
  impl_->writes = std::make_shared<write_service>(
      store, system.time(),
      write_options{.capacity = capacity,
                    .quotas = impl_->quotas,
                    .chain = chain_with(given.external, given.services_v6),
                    .threads = given.reading_thread});
  capacity->set_node_capacity(pod_capacity_of_nodes(store.read()));
  auto reader = given.reading_thread ? std::make_shared<runtime::worker_pool>(
                                           "log-reader", 1, defaults::log_queue_limit)
                                     : nullptr;
  auto& core_actors = impl_->core_actors;
  core_actors.watcher = impl_->start<watcher>("watcher", "watcher", &store,
                                              watcher_options{.log_reader = std::move(reader)});
  core_actors.writer = impl_->start<writer>(
      "writer", "writer", impl_->writes, writer_options{.conflict_chance = given.conflict_chance});
  const auto policy = std::make_shared<access::policy>();
  impl_->policy = policy;
  const auto graph = std::make_shared<access::node_graph>();
  impl_->node_graph = graph;
  const auto kinds = std::make_shared<custom_kinds>();
  store.observe(
      [to = core_actors.watcher](persistence::revision after, persistence::change_batch batch) {
        const auto& last = batch->back();
        const runtime::cause cause{last.cause.request, last.at};
        to.tell(committed{after, std::move(batch)}, cause);
      },
      {.load =
           [policy, kinds, graph, quotas = impl_->quotas](const persistence::snapshot& state) {
             kinds->load(state);
             quotas->load(state);
             policy->load(state);
             graph->load(state);
           },
       .take =
           [policy, kinds, graph,
            quotas = impl_->quotas](const std::vector<persistence::change>& changes) {
             kinds->take(changes);
             quotas->take(changes);
             policy->take(changes);
             graph->take(changes);
           }});
  core_actors.recorder =
      impl_->start<recorder>("recorder", "recorder", &store, core_actors.writer, given.events);
  impl_->tokens =
      impl_->start<token_provider>("token-provider", "token-provider", &store, given.issuer);
  impl_->links = std::make_shared<node_links>(system, store, core_actors, impl_->tokens);
  impl_->started.push_back(impl_->links->actor());
  const std::shared_ptr<const link_table> table{impl_->links, &impl_->links->table()};
  impl_->start<usage_collector>(usage_collector_kind, usage_collector_kind, &store, table,
                                impl_->links->actor(), given.simulation_policy);
  impl_->start<node_capacity>("node-capacity", "node-capacity", core_actors.watcher, capacity);
  if (given.controllers) start_leading();
}

control_plane::~control_plane() {
  stop_leading();
  impl_->store.observe([](auto, const auto&) {});
  for (auto ref = impl_->started.rbegin(); ref != impl_->started.rend(); ++ref) {
    impl_->system.stop(*ref);
  }
}

void control_plane::start_leading(persistence::revision fence) {
  const std::lock_guard lock{impl_->mutex};
  if (impl_->term) return;
  impl_->term =
      std::make_unique<leading>(leading::context{impl_->system, impl_->store, impl_->writes,
                                                 impl_->quotas, impl_->core_actors, fence},
                                impl_->options);
}

void control_plane::stop_leading() {
  const std::lock_guard lock{impl_->mutex};
  impl_->term.reset();
}

bool control_plane::leads() const {
  const std::lock_guard lock{impl_->mutex};
  return impl_->term != nullptr;
}

const actors::core_actors& control_plane::core_actors() const noexcept {
  return impl_->core_actors;
}
const runtime::actor_ref& control_plane::tokens() const noexcept {
  return impl_->tokens;
}
const token_issuer* control_plane::issuer() const noexcept {
  return impl_->options.issuer.get();
}
std::string control_plane::authority() const {
  return impl_->options.authority ? impl_->options.authority->certificates() : std::string{};
}
const node_links& control_plane::links() const noexcept {
  return *impl_->links;
}
std::shared_ptr<const node_links> control_plane::shared_links() const noexcept {
  return impl_->links;
}
const std::shared_ptr<const access::policy>& control_plane::policy() const noexcept {
  return impl_->policy;
}
const std::shared_ptr<const access::node_graph>& control_plane::node_graph() const noexcept {
  return impl_->node_graph;
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
