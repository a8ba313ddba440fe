#include "actors/controllers/owner_supervisor.hpp"

#include <fmt/format.h>

#include <utility>

#include "actors/controllers/claims.hpp"
#include "api/object/object_key.hpp"
#include "api/schema/meta_object.pb.h"

namespace troupe::actors {

owner_supervisor::owner_supervisor(runtime::actor_ref watcher, actors::ownership ownership)
    : informer{std::move(watcher)}, ownership_{std::move(ownership)} {}

const runtime::behavior& owner_supervisor::make_behavior() const {
  static const runtime::behavior table =
      runtime::handlers(&owner_supervisor::on_watch_events, &owner_supervisor::on_watch_ended);
  return table;
}

void owner_supervisor::started() {
  for (const auto& owner : ownership_.owners)
    follow(owner.kind->prefix(), [this, &owner](const watch_events& m) { on_owners(owner, m); });
  follow(ownership_.dependents->prefix(), [this](const watch_events& m) { on_dependents(m); });
}

std::string owner_supervisor::describe() const {
  return fmt::format("controllers: {}\nsynced: {}\n", routes_.size(), synced());
}

// A full mailbox loses changes, not its owner: the controller resyncs when there is room.
template <class M>
void owner_supervisor::deliver(const route& r, M message) {
  if (tell(r.controller, std::move(message))) return;
  missed_.insert(r.key);
  if (!again_.pending()) again_ = after(defaults::try_again, [this] { deliver_again(); });
}

void owner_supervisor::deliver_again() {
  for (const auto& key : std::exchange(missed_, {}))
    if (const auto found = routes_.find(key); found != routes_.end())
      deliver(found->second, resync_request{});
}

void owner_supervisor::on_owners(const ownership::owner_kind& kind, const watch_events& m) {
  for (const auto& event : m.events) {
    if (event.type == event_type::bookmark) continue;
    current_cause({event.cause.request, event.at});
    if (event.type == event_type::deleted) {
      remove_owner(api::key_of(*event.object));
    } else {
      take_owner(kind, event);
    }
  }
  complete();
}

void owner_supervisor::on_dependents(const watch_events& m) {
  for (const auto& event : m.events) {
    if (event.type == event_type::bookmark) continue;
    current_cause({event.cause.request, event.at});
    forward_dependent(event);
  }
  complete();
}

void owner_supervisor::complete() {
  if (!synced() || std::exchange(complete_, true)) return;
  for (const auto& [key, r] : routes_)
    if (r.outlived) deliver(r, resync_request{});
  for (const auto& owner : ownership_.owners)
    stop_children_except(owner.actor_kind, [&](const std::string& name) {
      const auto slash = name.find('/');
      return routes_.contains(owner.kind->key(name.substr(0, slash), name.substr(slash + 1)));
    });
}

void owner_supervisor::take_owner(const ownership::owner_kind& kind, const watch_event& event) {
  const auto& meta = event.object->meta();
  auto [at, fresh] = routes_.try_emplace(api::key_of(*event.object));
  auto& r = at->second;
  if (!fresh && r.uid != meta.uid()) key_by_uid_.erase(r.uid);
  r.key = at->first;
  r.uid = meta.uid();
  r.selector = ownership_.selector_of(*event.object);
  key_by_uid_[r.uid] = r.key;
  if (fresh) {
    const auto name = meta.namespace_() + "/" + meta.name();
    r.controller = child(kind.actor_kind, name);
    r.outlived = static_cast<bool>(r.controller);
    if (!r.outlived)
      r.controller = spawn({.kind = kind.actor_kind, .name = name},
                           [make = ownership_.make_controller, key = r.key] { return make(key); });
  }
  deliver(r, owner_event{.object = event.object, .at = event.at});
}

void owner_supervisor::remove_owner(const std::string& key) {
  const auto found = routes_.find(key);
  if (found == routes_.end()) return;
  stop_child(found->second.controller);
  key_by_uid_.erase(found->second.uid);
  routes_.erase(found);
}

void owner_supervisor::forward_dependent(const watch_event& event) {
  const dependent_event change{event};
  const auto owner = std::string{controller_uid(*event.object)};
  const auto before = event.previous ? std::string{controller_uid(*event.previous)} : std::string{};
  if (!owner.empty()) forward(owner, change);
  if (!before.empty() && before != owner) forward(before, change);
  if (!owner.empty()) return;
  const auto& meta = event.object->meta();
  for (const auto& kind : ownership_.owners) {
    const auto prefix = kind.kind->prefix(meta.namespace_());
    for (auto at = routes_.lower_bound(prefix);
         at != routes_.end() && at->first.compare(0, prefix.size(), prefix) == 0; ++at) {
      const auto& r = at->second;
      if (r.uid == before) continue;
      const bool matches = r.selector.matches(meta.labels()) ||
                           (event.previous && r.selector.matches(event.previous->meta().labels()));
      if (matches) deliver(r, change);
    }
  }
}

void owner_supervisor::forward(const std::string& uid, const dependent_event& change) {
  const auto found = key_by_uid_.find(uid);
  if (found != key_by_uid_.end()) deliver(routes_.at(found->second), change);
}

}  // namespace troupe::actors
