#include "actors/control_plane.hpp"

#include <utility>
#include <vector>

#include "actors/defaults.hpp"
#include "actors/deployments/deployments.hpp"
#include "actors/garbage_collector.hpp"
#include "actors/link/node_links.hpp"
#include "actors/minions.hpp"
#include "actors/namespaces.hpp"
#include "actors/pods.hpp"
#include "actors/recorder.hpp"
#include "actors/replication/replication.hpp"
#include "actors/scheduler/scheduler.hpp"
#include "actors/service_allocations.hpp"
#include "actors/token_cleaner.hpp"
#include "actors/watcher.hpp"
#include "actors/writer.hpp"

namespace troupe::actors {

struct control_plane::impl {
  runtime::system& company;
  persistence::store& truth;
  std::shared_ptr<actors::capacity> capacity;
  actors::doors doors = {};
  std::unique_ptr<node_links> links = {};
  std::vector<runtime::actor_ref> started = {};

  template <class A, class... Args>
  runtime::actor_ref start(const char* kind, const char* name, Args... args) {
    auto ref = company.spawn({.kind = kind, .name = name}, runtime::make<A>(std::move(args)...));
    started.push_back(ref);
    return ref;
  }

  template <class Command>
  void order(Command what, std::uint64_t request,
             std::function<void(api::expected<api::object_ptr>)> done) {
    company.request<command_done>(
        doors.writer, std::move(what), defaults::write_timeout,
        [done = std::move(done)](tl::expected<const command_done*, runtime::request_error> reply) {
          if (reply) return done((*reply)->result);
          done(api::fail(api::service_unavailable(std::string{"the writer did not answer: "} +
                                                  runtime::to_string(reply.error()))));
        },
        {.request = request});
  }
};

control_plane::control_plane(runtime::system& company, persistence::store& truth,
                             control_plane_options options)
    : impl_{new impl{company, truth, std::make_shared<actors::capacity>(options.capacity)}} {
  const auto& capacity = impl_->capacity;
  capacity->nodes_take(pods_taken_by_nodes(truth.read()));
  auto reader = options.reading_thread ? std::make_shared<runtime::worker_pool>(
                                             "log-reader", 1, defaults::log_queue_limit)
                                       : nullptr;
  auto& doors = impl_->doors;
  doors.watcher = impl_->start<watcher>("watcher", "watcher", &truth,
                                        watcher_options{.log_reader = std::move(reader)});
  doors.writer = impl_->start<writer>(
      "writer", "writer", &truth,
      writer_options{.conflict_chance = options.conflict_chance, .capacity = capacity});
  truth.observe([to = doors.watcher](persistence::change_batch batch) {
    const auto& last = batch->back();
    const runtime::cause why{last.why.request, last.at};
    to.tell(committed{std::move(batch)}, why);
  });
  doors.recorder =
      impl_->start<recorder>("recorder", "recorder", &truth, doors.writer, options.events);
  impl_->links = std::make_unique<node_links>(company, truth, doors);
  impl_->started.push_back(impl_->links->actor());
  if (!options.controllers) return;
  impl_->start<namespaces>("namespaces", "namespaces", &truth, doors);
  impl_->start<garbage_collector>("garbage-collector", "garbage-collector", &truth, doors);
  impl_->start<minions>("supervisor", "minions", &truth, doors, options.node_grace, capacity);
  impl_->start<token_cleaner>("token-cleaner", "token-cleaner", doors);
  auto scheduler = spawn_scheduler(company, doors, {.profile = options.scheduler_profile});
  impl_->started.push_back(scheduler);
  impl_->start<pods>("supervisor", "pods", doors.watcher,
                     pod_surroundings{&truth, doors.writer, scheduler, doors.recorder},
                     pods_options{});
  impl_->started.push_back(spawn_replication(company, doors, truth));
  impl_->started.push_back(spawn_deployments(company, doors, truth));
}

control_plane::~control_plane() {
  impl_->truth.observe([](const persistence::change_batch&) {});
  for (auto ref = impl_->started.rbegin(); ref != impl_->started.rend(); ++ref) {
    impl_->company.stop(*ref);
  }
}

const actors::doors& control_plane::doors() const noexcept {
  return impl_->doors;
}
const node_links& control_plane::links() const noexcept {
  return *impl_->links;
}
runtime::system& control_plane::company() noexcept {
  return impl_->company;
}
persistence::store& control_plane::truth() noexcept {
  return impl_->truth;
}

void control_plane::commit(persistence::transaction what, std::uint64_t request,
                           std::function<void(persistence::outcome)> done) {
  if (what.why.request == 0) what.why.request = request;
  follow_services(impl_->truth, what);
  impl_->capacity->limit(what);
  impl_->truth.submit(std::move(what), std::move(done));
}

void control_plane::bind(actors::bind what, std::uint64_t request,
                         std::function<void(api::expected<api::object_ptr>)> done) {
  impl_->order(std::move(what), request, std::move(done));
}

void control_plane::evict(actors::evict what, std::uint64_t request,
                          std::function<void(api::expected<api::object_ptr>)> done) {
  impl_->order(std::move(what), request, std::move(done));
}

}  // namespace troupe::actors
