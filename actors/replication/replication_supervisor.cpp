#include "actors/replication/replication_supervisor.hpp"

#include <fmt/format.h>

#include "actors/replication/pod_record.hpp"
#include "actors/replication/replica_controller.hpp"
#include "actors/replication/replica_owner.hpp"
#include "api/schema/apps_v1.pb.h"
#include "api/schema/core_pod.pb.h"
#include "api/schema/core_replication.pb.h"
#include "api/scheme.hpp"

namespace troupe::actors::replication {

namespace {

std::string key_of(const api::object& object) {
  return object.kind().key(object.meta().namespace_(), object.meta().name());
}

}  // namespace

replication_supervisor::replication_supervisor(doors to, const persistence::store& truth)
    : follower{to.watcher}, to_{std::move(to)}, truth_{truth} {}

const runtime::behavior& replication_supervisor::make_behavior() const {
  static const runtime::behavior table = runtime::handlers(&replication_supervisor::on_watch_events,
                                                           &replication_supervisor::on_watch_ended);
  return table;
}

void replication_supervisor::started() {
  const auto owners = [this](const watch_events& m) { on_owners(m); };
  follow(api::kind_of<api::core::v1::ReplicationController>().prefix(), owners);
  follow(api::kind_of<api::apps::v1::ReplicaSet>().prefix(), owners);
  follow(api::kind_of<api::core::v1::Pod>().prefix(),
         [this](const watch_events& m) { on_pods(m); });
}

std::string replication_supervisor::describe() const {
  return fmt::format("controllers: {}\nsynced: {}\n", routes_.size(), synced());
}

void replication_supervisor::on_owners(const watch_events& m) {
  for (const auto& event : m.events) {
    if (event.type == event_type::bookmark) continue;
    if (event.type == event_type::deleted) {
      lose_owner(key_of(*event.object));
    } else {
      take_owner(event);
    }
  }
}

void replication_supervisor::on_pods(const watch_events& m) {
  for (const auto& event : m.events)
    if (event.type != event_type::bookmark) forward_pod(event);
}

void replication_supervisor::take_owner(const watch_event& event) {
  const replica_owner owner{event.object};
  auto [at, fresh] = routes_.try_emplace(owner.key());
  auto& r = at->second;
  if (!fresh && r.uid != owner.uid()) key_by_uid_.erase(r.uid);
  r.key = at->first;
  r.uid = owner.uid();
  r.space = owner.space();
  r.selector = owner.selector();
  key_by_uid_[r.uid] = r.key;
  if (fresh) {
    const std::string kind =
        event.object->kind().kind() == "ReplicaSet" ? "replicaset" : "replicationcontroller";
    const auto name = owner.space() + "/" + owner.name();
    r.controller = child(kind, name);  // one that outlived a crash of this supervisor
    if (!r.controller)
      r.controller = spawn({.kind = kind, .name = name}, [key = r.key, to = to_, truth = &truth_] {
        return std::make_unique<replica_controller>(key, to, *truth);
      });
  }
  tell(r.controller, own_change{.object = event.object, .at = event.at});
}

void replication_supervisor::lose_owner(const std::string& key) {
  const auto found = routes_.find(key);
  if (found == routes_.end()) return;
  stop_child(found->second.controller);
  key_by_uid_.erase(found->second.uid);
  routes_.erase(found);
}

void replication_supervisor::forward_pod(const watch_event& event) {
  const related_change change{event};
  const auto owner = std::string{controller_uid(*event.object)};
  const auto before = event.previous ? std::string{controller_uid(*event.previous)} : std::string{};
  if (!owner.empty()) forward(owner, change);
  if (!before.empty() && before != owner) forward(before, change);
  if (!owner.empty()) return;
  const auto& space = event.object->meta().namespace_();
  for (const auto& [key, r] : routes_) {
    if (r.space != space || r.uid == before) continue;
    const bool matches = r.selector.matches(event.object->meta().labels()) ||
                         (event.previous && r.selector.matches(event.previous->meta().labels()));
    if (matches) tell(r.controller, change);
  }
}

void replication_supervisor::forward(const std::string& uid, const related_change& change) {
  const auto found = key_by_uid_.find(uid);
  if (found != key_by_uid_.end()) tell(routes_.at(found->second).controller, change);
}

}  // namespace troupe::actors::replication

namespace troupe::actors {

runtime::actor_ref spawn_replication(runtime::system& company, const doors& to,
                                     const persistence::store& truth) {
  return company.spawn({.kind = "supervisor", .name = "replication"}, [to, truth = &truth] {
    return std::make_unique<replication::replication_supervisor>(to, *truth);
  });
}

}  // namespace troupe::actors
