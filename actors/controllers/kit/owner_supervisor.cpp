#include "actors/controllers/kit/owner_supervisor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "actors/controllers/kit/claims.hpp"
#include "api/object/object_key.hpp"

namespace troupe::actors {

runtime::actor_ref start_controller(runtime::actor_system& system, const controller_type& type,
                                    const core_actors& core, const persistence::store& store,
                                    controller_settings settings) {
  return system.spawn({.kind = "supervisor", .name = type.name},
                      runtime::make<owner_supervisor>(type, core, &store, std::move(settings)));
}

owner_supervisor::owner_supervisor(const controller_type& type, const core_actors& core,
                                   const persistence::store* store, controller_settings settings)
    : informer{core.watcher} {
  for (const auto& owner : type.owners)
    contexts_.push_back(std::make_shared<const controller_context>(controller_context{
        owner, type.dependents, type.make, core, *store, type.observed, settings}));
}

const runtime::behavior& owner_supervisor::make_behavior() const {
  static const runtime::behavior table =
      runtime::handlers(&owner_supervisor::on_watch_events, &owner_supervisor::on_watch_ended);
  return table;
}

void owner_supervisor::started() {
  for (const auto& context : contexts_)
    follow(context->owner.kind->prefix(),
           [this, &context](const watch_events& m) { on_owners(context, m); });
  stream_options options;
  if (const auto& name = contexts_.front()->owner.dependent_name; !name.empty())
    options.accept = [name](const api::object& object) { return object.meta().name() == name; };
  for (const auto* kind : contexts_.front()->dependents)
    follow(
        kind->prefix(), [this](const watch_events& m) { on_dependents(m); }, options);
}

std::string owner_supervisor::describe() const {
  return fmt::format("controllers: {}\nsynced: {}\n", routes_.size(), synced());
}

// If the mailbox is full the message is lost, and the controller resyncs once there is room. A
// controller that is not started yet reads the change from the store.
template <class M>
void owner_supervisor::deliver(const row& to, M message) {
  if (!to.second.controller || tell(to.second.controller, std::move(message))) return;
  missed_.insert(to.first);
  if (!again_.pending()) again_ = after(defaults::try_again, [this] { deliver_again(); });
}

void owner_supervisor::deliver_again() {
  for (const auto& key : std::exchange(missed_, {}))
    if (const auto found = routes_.find(key); found != routes_.end())
      deliver(*found, resync_request{});
}

void owner_supervisor::on_owners(const controller_context_ptr& context, const watch_events& m) {
  for (const auto& event : m.events) {
    if (event.type == event_type::bookmark) continue;
    current_cause({event.cause.request, event.at});
    if (event.type == event_type::deleted) {
      remove_owner(api::key_of(*event.object));
    } else {
      take_owner(context, event);
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

void owner_supervisor::on_observed(const watch_events& m) {
  const auto observes = [](const route& r, const api::label_map& labels) {
    return r.observes.matches(labels);
  };
  for (const auto& event : m.events) {
    if (event.type == event_type::bookmark) continue;
    current_cause({event.cause.request, event.at});
    for (const auto* each : matching(by_observed_, event, observes))
      deliver(*each, observed_event{event});
  }
  if (synced() && !std::exchange(observed_synced_, true))
    for (const auto& each : routes_)
      if (each.second.observing != nullptr) deliver(each, resync_request{});
  complete();
}

void owner_supervisor::observe() {
  if (std::exchange(observing_, true)) return;
  for (const auto* kind : contexts_.front()->observed)
    follow(kind->prefix(), [this](const watch_events& m) { on_observed(m); });
}

void owner_supervisor::complete() {
  if (!synced()) return;
  start_waiting();
  if (std::exchange(complete_, true)) return;
  for (const auto& each : routes_)
    if (each.second.predates_restart) deliver(each, resync_request{});
  for (const auto& context : contexts_)
    stop_children_except(context->owner.actor_kind, [&](const std::string& name) {
      const auto slash = name.find('/');
      return routes_.contains(
          context->owner.kind->key(name.substr(0, slash), name.substr(slash + 1)));
    });
}

void owner_supervisor::take_owner(const controller_context_ptr& context, const watch_event& event) {
  const auto& object = *event.object;
  auto [at, fresh] = routes_.try_emplace(api::key_of(object));
  auto& r = at->second;
  auto selects = selector_by(context->owner.selector_of, object);
  auto observes = selector_by(context->owner.observes, object);
  if (fresh || r.uid != object.meta().uid() || r.selector != selects || r.observes != observes) {
    unindex(*at);
    r.uid = object.meta().uid();
    r.selector = std::move(selects);
    r.observes = std::move(observes);
    index(*at, object);
  }
  if (fresh) {
    auto name = object.meta().namespace_() + "/" + object.meta().name();
    r.controller = child(context->owner.actor_kind, name);
    r.predates_restart = static_cast<bool>(r.controller);
    if (!r.predates_restart) to_start_[at->first] = {context, std::move(name), current_cause()};
  }
  deliver(*at, owner_event{.object = event.object, .at = event.at});
}

void owner_supervisor::start_waiting() {
  for (auto& [key, each] : std::exchange(to_start_, {})) {
    current_cause(each.cause);
    routes_.at(key).controller =
        spawn({.kind = each.context->owner.actor_kind, .name = std::move(each.name)},
              [context = each.context, key = key] { return context->make(key, context); });
  }
}

void owner_supervisor::index(row& of, const api::object& owner) {
  auto& r = of.second;
  const auto& ns = owner.meta().namespace_();
  by_uid_.emplace(r.uid, &of);
  r.indexed = by_label_.put(ns, r.selector, &of);
  const auto& observed = contexts_.front()->observed;
  const bool of_cluster = !observed.empty() && !observed.front()->namespaced();
  r.observing = by_observed_.put(of_cluster ? std::string{} : ns, r.observes, &of);
  if (r.observing != nullptr) observe();
}

void owner_supervisor::unindex(row& of) {
  by_uid_.erase(of.second.uid);
  by_label_.remove(std::exchange(of.second.indexed, nullptr), &of);
  by_observed_.remove(std::exchange(of.second.observing, nullptr), &of);
}

void owner_supervisor::remove_owner(const std::string& key) {
  const auto found = routes_.find(key);
  if (found == routes_.end()) return;
  if (to_start_.erase(key) == 0) stop_child(found->second.controller);
  unindex(*found);
  routes_.erase(found);
}

void owner_supervisor::forward_dependent(const watch_event& event) {
  // Without owners the object is not read: another thread wrote it, and it is in no cache here.
  if (routes_.empty()) return;
  const dependent_event change{event};
  if (const auto& first = contexts_.front()->owner; !first.dependent_name.empty()) {
    const auto found = routes_.find(first.kind->key({}, event.object->meta().namespace_()));
    if (found != routes_.end()) deliver(*found, change);
    return;
  }
  const auto owner = controller_uid(*event.object);
  const auto before = event.previous ? controller_uid(*event.previous) : std::string_view{};
  if (!owner.empty()) forward(owner, change);
  if (!before.empty() && before != owner) forward(before, change);
  if (!owner.empty()) return;
  const auto may_adopt = [&](const route& r, const api::label_map& labels) {
    return r.uid != before && r.selector.matches(labels);
  };
  for (const auto* each : matching(by_label_, event, may_adopt))
    deliver(*each, change);
}

template <class Matches>
std::vector<const owner_supervisor::row*> owner_supervisor::matching(
    const selector_index<row*>& index, const watch_event& event, Matches matches) const {
  std::vector<const row*> found;
  const auto look = [&](const api::object& state) {
    const auto& labels = state.meta().labels();
    index.each_candidate(state.meta().namespace_(), labels, [&](const row* candidate) {
      if (matches(candidate->second, labels)) found.push_back(candidate);
    });
  };
  look(*event.object);
  if (event.previous) look(*event.previous);
  // In the order of their keys, so that a simulation is deterministic.
  std::sort(found.begin(), found.end(),
            [](const row* a, const row* b) { return a->first < b->first; });
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

void owner_supervisor::forward(std::string_view uid, const dependent_event& change) {
  const auto found = by_uid_.find(uid);
  if (found != by_uid_.end()) deliver(*found->second, change);
}

}  // namespace troupe::actors
