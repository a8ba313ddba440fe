#include "actors/garbage/garbage_collector.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <utility>

#include "actors/core/finalizers.hpp"
#include "actors/core/log.hpp"
#include "actors/write/commands.hpp"
#include "api/kind_row.hpp"
#include "api/object/object_key.hpp"

namespace troupe::actors {

namespace {

bool may_have_dependents(const api::object& object) {
  return object.kind().row().has_dependents;
}

persistence::change_cause author() {
  return {.author = "garbage-collector"};
}

}  // namespace

garbage_collector::garbage_collector(const persistence::store* store, core_actors core)
    : informer{core.watcher}, store_{store}, core_{std::move(core)} {}

const runtime::behavior& garbage_collector::make_behavior() const {
  static const auto table =
      runtime::handlers(&garbage_collector::on_watch_events, &garbage_collector::on_watch_ended);
  return table;
}

void garbage_collector::started() {
  follow("/registry/", [this](const watch_events& m) { on_changes(m); },
         {.accept = may_have_dependents, .on_node = {}, .credit = defaults::garbage_credit});
  again_ = every(defaults::try_again, [this] {
    for (const auto& key : std::exchange(later_, {}))
      enqueue(key);
    pump();
  });
}

std::string garbage_collector::describe() const {
  return fmt::format(
      "dependents: {}\nwaitingOwners: {}\nqueue: {}\nunderWay: {}\nremoved: {}\nstripped: {}\n"
      "failed: {}\n",
      graph_.size(), waiting_.size(), queue_.size(), busy_.size(), removed_, stripped_, failed_);
}

// -- messages from the watcher --------------------------------------------------------------------

void garbage_collector::on_changes(const watch_events& m) {
  for (const auto& event : m.events) {
    if (!event.object) continue;
    if (event.type == event_type::modified && event.previous &&
        same_dependence(*event.previous, *event.object)) {
      continue;
    }
    current_cause({event.cause.request, event.at});
    const auto key = api::key_of(*event.object);
    if (event.type == event_type::deleted) {
      remove_object(key, *event.object);
    } else {
      update_object(key, event);
    }
  }
  if (!m.synced) return;
  graph_at_ = std::max(graph_at_, m.up_to);
  for (const auto& key : std::exchange(ahead_, {}))
    enqueue(key);
  if (!std::exchange(complete_, true)) {
    for (const auto& key : graph_.keys())
      enqueue(key);
    for (const auto& [uid, key] : waiting_)
      enqueue(key);
  }
  pump();
}

void garbage_collector::update_object(const std::string& key, const watch_event& event) {
  const auto& object = *event.object;
  const auto before = graph_.owners_of(key);
  wake_owners(graph_.put(key, object));
  if (event.type == event_type::added || graph_.owners_of(key) != before) {
    if (!graph_.owners_of(key).empty()) enqueue(key);
    // The object may no longer block an owner.
    for (const auto& owner : graph_.owners_of(key))
      wake_owners({owner.uid});
  }
  if (!awaits_dependents(object)) {
    waiting_.erase(object.meta().uid());
    return;
  }
  // Also when it waited before: a second deletion may have another policy.
  enqueue(key);
  if (!waiting_.emplace(object.meta().uid(), key).second) return;
  log().info("garbage: {} at revision {} is being deleted and {}", key, object.revision(),
             has_finalizer(object.meta(), finalizer_orphan) ? "orphans its dependents"
                                                            : "waits for its dependents");
  for (const auto& dependent : graph_.dependents_of(object.meta().uid()))
    enqueue(dependent);
}

void garbage_collector::remove_object(const std::string& key, const api::object& object) {
  const auto& uid = object.meta().uid();
  wake_owners(graph_.erase(key));
  waiting_.erase(uid);
  if (!graph_.has_dependents(uid)) return;
  absent_.put(uid, object.kind().namespaced());
  for (const auto& dependent : graph_.dependents_of(uid))
    enqueue(dependent);
}

void garbage_collector::wake_owners(const std::vector<std::string>& uids) {
  for (const auto& uid : uids) {
    if (const auto found = waiting_.find(uid); found != waiting_.end()) enqueue(found->second);
  }
}

// -- the queue ------------------------------------------------------------------------------------

void garbage_collector::enqueue(const std::string& key) {
  if (complete_ && queued_.insert(key).second) queue_.push_back(key);
}

void garbage_collector::pump() {
  while (!queue_.empty() && busy_.size() < defaults::garbage_in_flight) {
    const auto key = std::move(queue_.front());
    queue_.pop_front();
    queued_.erase(key);
    process(key);
  }
}

// An object with a write in flight is processed again after the answer: that write may be a task of
// its owner.
void garbage_collector::process(const std::string& key) {
  if (busy_.contains(key)) {
    put_off_.insert(key);
    return;
  }
  const auto object = store_->read().find(key);
  if (!object) return;
  if (!object->meta().has_deletion_timestamp()) return collect(key, object);
  if (!awaits_dependents(*object)) return;
  // The graph must have seen the deletion, but the change that advances it may be of any object (a
  // status), so the task waits for the next events.
  if (object->revision() > graph_at_) return ahead_.push_back(key);
  if (has_finalizer(object->meta(), finalizer_orphan)) {
    finish_orphans(object);
  } else {
    finish_foreground(object);
  }
}

// -- tasks --------------------------------------------------------------------------------------

void garbage_collector::collect(const std::string& key, const api::object_ptr& object) {
  const auto dependents = graph_.dependents_of(object->meta().uid());
  // A custom object's definition may have gone as well (kubernetes: absentOwnerCache).
  const auto is_absent = [&](const std::string& uid) {
    const auto* namespaced = absent_.find(uid);
    return namespaced != nullptr && (!*namespaced || object->kind().namespaced());
  };
  auto decision = classify(*object, dependents, store_->read(), is_absent);
  if (!decision.lost_owners.empty()) check_namespaces(object);
  switch (decision.step) {
    case garbage_step::keep:
      break;
    case garbage_step::strip:
      ++stripped_;
      log().debug("garbage: {} at revision {} loses {} references to absent owners", key,
                  object->revision(), decision.lost_owners.size());
      replace(key, *object, without_owners(*object, decision.lost_owners));
      break;
    case garbage_step::unblock:
      log().info("garbage: {} at revision {} is in a cycle of owners: clears blockOwnerDeletion",
                 key, object->revision());
      replace(key, *object, without_blocking(*object));
      break;
    case garbage_step::remove:
      ++removed_;
      log().debug("garbage: {} at revision {} is deleted: no owner exists ({})", key,
                  object->revision(), decision.propagation);
      send_removal(key, {.key = key,
                         .uid = object->meta().uid(),
                         .at = object->revision(),
                         .propagation = std::move(decision.propagation),
                         .cause = author()});
      break;
  }
}

void garbage_collector::finish_foreground(const api::object_ptr& owner) {
  const auto blocking = graph_.blocking_dependents_of(owner->meta().uid());
  if (blocking.empty()) {
    log().debug("garbage: {} at revision {} has no dependents left", api::key_of(*owner),
                owner->revision());
    return replace(api::key_of(*owner), *owner, without_finalizer(*owner, finalizer_foreground));
  }
  for (const auto& key : blocking) {
    if (const auto found = store_->read().find(key); found && !awaits_dependents(*found)) {
      enqueue(key);
    }
  }
}

void garbage_collector::finish_orphans(const api::object_ptr& owner) {
  const auto& uid = owner->meta().uid();
  const auto dependents = graph_.dependents_of(uid);
  if (dependents.empty()) {
    return replace(api::key_of(*owner), *owner, without_finalizer(*owner, finalizer_orphan));
  }
  for (const auto& key : dependents) {
    // Each stripped dependent wakes the owner again, which continues with the rest.
    if (busy_.size() >= defaults::garbage_in_flight) return;
    const auto found = store_->read().find(key);
    if (!found || busy_.contains(key)) continue;
    const auto& references = found->meta().owner_references();
    const bool owned = std::any_of(references.begin(), references.end(),
                                   [&](const auto& each) { return each.uid() == uid; });
    if (!owned) continue;
    ++stripped_;
    replace(api::key_of(*owner), *found, without_owners(*found, {uid}));
  }
}

// An owner in another namespace does not exist; an event says so before the dependent is deleted.
void garbage_collector::check_namespaces(const api::object_ptr& dependent) {
  const auto state = store_->read();
  const auto& ns = dependent->meta().namespace_();
  for (const auto& owner : dependent->meta().owner_references()) {
    if (state_of(*dependent, owner, state) != owner_state::absent) continue;
    if (absent_.find(owner.uid()) != nullptr) continue;
    const auto kind = kind_of_owner(owner);
    if (!kind) continue;  // deleted meanwhile
    bool elsewhere = false;
    state.scan(kind->prefix(), {}, [&](std::string_view, const api::object_ptr& each) {
      elsewhere = each->meta().uid() == owner.uid();
      return !elsewhere;
    });
    if (!elsewhere) {
      absent_.put(owner.uid(), kind->namespaced());
      continue;
    }
    tell(core_.recorder,
         record_event{
             .about = dependent,
             .warning = true,
             .reason = "OwnerRefInvalidNamespace",
             .message = fmt::format(
                 "ownerRef [{}/{}, namespace: {}, name: {}, uid: {}] does not exist in namespace "
                 "\"{}\"",
                 owner.api_version(), owner.kind(), ns, owner.name(), owner.uid(), ns),
             .component = "garbage-collector-controller"});
  }
}

// -- writes -------------------------------------------------------------------------------------

// `task` is repeated if the write fails.
void garbage_collector::replace(const std::string& task, const api::object& old,
                                std::unique_ptr<api::body> content) {
  auto transaction = std::make_shared<persistence::transaction>(succeed(old, std::move(content)));
  transaction->cause = author();
  auto key = api::key_of(old);
  busy_.insert(key);
  request<commit_done>(core_.writer, commit{std::move(transaction)}, defaults::write_timeout,
                       [this, key = std::move(key), task](auto reply) {
                         const bool conflict =
                             reply && !(*reply)->result &&
                             (*reply)->result.error().code == persistence::errc::conflict;
                         done(key, task, reply && (*reply)->result, conflict);
                       });
}

void garbage_collector::send_removal(const std::string& key, remove removal) {
  busy_.insert(key);
  request<command_done>(core_.writer, std::move(removal), defaults::write_timeout,
                        [this, key](auto reply) {
                          const bool refused = reply && !(*reply)->result;
                          const int code = refused ? (*reply)->result.error().code : 0;
                          done(key, key, (reply && !refused) || code == 404, code == 409);
                        });
}

void garbage_collector::done(const std::string& key, const std::string& task, bool succeeded,
                             bool conflict) {
  busy_.erase(key);
  if (put_off_.erase(key) != 0) enqueue(key);
  if (!succeeded) {
    ++failed_;
    log().debug("garbage: the write of {} failed{}", key,
                conflict ? ": the object has changed" : ", retrying later");
    // A conflict is decided again at once, other errors (disk, load) a little later.
    if (conflict) {
      enqueue(task);
    } else {
      later_.push_back(task);
    }
  }
  pump();
}

}  // namespace troupe::actors
