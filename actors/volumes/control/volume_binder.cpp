#include "actors/volumes/control/volume_binder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "actors/volumes/defaults.hpp"
#include "actors/volumes/provisioning.hpp"
#include "api/object/object_key.hpp"
#include "api/scheme.hpp"

namespace troupe::actors::volumes {

namespace {

const api::kind_info& claims() {
  return api::kind_of<PersistentVolumeClaim>();
}

using key_index = std::map<std::string, std::set<std::string>>;

// Empty lists are removed.
void drop(key_index& from, const std::string& by, const std::string& key) {
  const auto found = from.find(by);
  if (found == from.end()) return;
  found->second.erase(key);
  if (found->second.empty()) from.erase(found);
}

const std::set<std::string>& keys_of(const key_index& all, const std::string& by) {
  static const std::set<std::string> none;
  const auto found = all.find(by);
  return found == all.end() ? none : found->second;
}

}  // namespace

volume_binder::volume_binder(const persistence::store* store, core_actors core,
                             binder_options options)
    : informer{core.watcher}, store_{store}, core_{std::move(core)}, options_{options} {}

const runtime::behavior& volume_binder::make_behavior() const {
  static const auto table =
      runtime::handlers(&volume_binder::on_watch_events, &volume_binder::on_watch_ended,
                        &volume_binder::on_continue_work);
  return table;
}

void volume_binder::started() {
  if (options_.make_class) make_class();
  follow(api::kind_of<StorageClass>().prefix(), [this](const watch_events& m) { on_classes(m); });
  follow(api::kind_of<Node>().prefix(), [this](const watch_events& m) { on_nodes(m); });
  follow(api::kind_of<PersistentVolume>().prefix(),
         [this](const watch_events& m) { on_volumes(m); });
  follow(api::kind_of<PersistentVolumeClaim>().prefix(),
         [this](const watch_events& m) { on_claims(m); });
  resync_ = every(defaults::resync_period, [this] {
    if (options_.make_class && !made_class_) make_class();
    enqueue_waiting();
  });
}

std::string volume_binder::describe() const {
  std::size_t waiting = 0, free = 0;
  for (const auto& [name, keys] : waiting_)
    waiting += keys.size();
  for (const auto& [name, keys] : free_)
    free += keys.size();
  return fmt::format(
      "waitingClaims: {}\nfreeVolumes: {}\ndue: {}\nbeingWritten: {}\nbound: {}\nprovisioned: {}\n"
      "removed: {}\n",
      waiting, free, due_.size(), busy_.size(), bound_, provisioned_, removed_);
}

// -- messages from the watcher --------------------------------------------------------------------

void volume_binder::on_claims(const watch_events& m) {
  for (const auto& event : m.events) {
    if (event.type == event_type::bookmark) continue;
    current_cause({event.cause.request, event.at});
    const auto key = api::key_of(*event.object);
    const auto& claim = event.object->as<PersistentVolumeClaim>();
    if (event.previous) forget_claim(key, event.previous->as<PersistentVolumeClaim>());
    forget_claim(key, claim);
    enqueue(keys_of(of_claim_, key));
    const auto& volume = claim.spec().volume_name();
    if (!volume.empty()) enqueue(api::kind_of<PersistentVolume>().key({}, volume));
    if (event.type == event_type::deleted) continue;
    if (volume.empty())
      waiting_[class_of(claim)].insert(key);
    else
      naming_[volume].insert(key);
    enqueue(key);
  }
  wake();
}

void volume_binder::forget_claim(const std::string& key, const PersistentVolumeClaim& claim) {
  drop(waiting_, class_of(claim), key);
  drop(naming_, claim.spec().volume_name(), key);
}

void volume_binder::on_volumes(const watch_events& m) {
  for (const auto& event : m.events) {
    if (event.type == event_type::bookmark) continue;
    current_cause({event.cause.request, event.at});
    const auto key = api::key_of(*event.object);
    const auto& volume = event.object->as<PersistentVolume>();
    if (event.previous) forget_volume(key, event.previous->as<PersistentVolume>());
    forget_volume(key, volume);
    enqueue(keys_of(naming_, volume.metadata().name()));
    if (event.type == event_type::deleted) continue;
    if (has_directory(volume)) kept_by_[node_of(volume)].insert(key);
    if (volume.spec().has_claim_ref()) {
      const auto& reference = volume.spec().claim_ref();
      const auto claim = claims().key(reference.namespace_(), reference.name());
      of_claim_[claim].insert(key);
      enqueue(claim);
    } else {
      free_[class_of(volume)].insert(key);
      if (volume.status().phase() == "Available") enqueue(keys_of(waiting_, class_of(volume)));
    }
    enqueue(key);
  }
  wake();
}

void volume_binder::forget_volume(const std::string& key, const PersistentVolume& volume) {
  drop(free_, class_of(volume), key);
  drop(kept_by_, node_of(volume), key);
  if (!volume.spec().has_claim_ref()) return;
  const auto& reference = volume.spec().claim_ref();
  drop(of_claim_, claims().key(reference.namespace_(), reference.name()), key);
}

void volume_binder::on_classes(const watch_events& m) {
  for (const auto& event : m.events) {
    if (event.type == event_type::bookmark) continue;
    const auto& name = event.object->meta().name();
    if (event.type == event_type::deleted)
      classes_.erase(name);
    else
      classes_[name] = event.object;
    made_class_ = made_class_ || name == defaults::local_path_class;
    enqueue(keys_of(waiting_, name));
    enqueue(keys_of(waiting_, {}));  // it may be the default class
  }
  wake();
}

void volume_binder::on_nodes(const watch_events& m) {
  for (const auto& event : m.events) {
    if (event.type == event_type::bookmark) continue;
    const auto& name = event.object->meta().name();
    const bool gone = event.type == event_type::deleted;
    if (gone) enqueue(keys_of(kept_by_, name));
    const bool takes = !gone && takes_volumes(event.object->as<Node>());
    const auto at = std::lower_bound(ready_.begin(), ready_.end(), name);
    const bool known = at != ready_.end() && *at == name;
    if (takes == known) continue;
    if (known) {
      ready_.erase(at);
    } else {
      ready_.insert(at, name);
      if (ready_.size() == 1) enqueue_waiting();
    }
  }
  wake();
}

// -- the queue of objects to sync -----------------------------------------------------------------

void volume_binder::enqueue(const std::string& key) {
  due_.insert(key);
}

void volume_binder::enqueue(const key_set& keys) {
  due_.insert(keys.begin(), keys.end());
}

void volume_binder::enqueue_waiting() {
  for (const auto& [name, keys] : waiting_)
    enqueue(keys);
  wake();
}

void volume_binder::wake() {
  if (continuing_ || !synced() || due_.empty() || under_way_ >= defaults::writes_under_way) return;
  continuing_ = true;
  tell(self(), continue_work{});
}

void volume_binder::on_continue_work(const continue_work&) {
  continuing_ = false;
  const auto state = store_->read();
  for (std::size_t i = 0;
       i < defaults::looks_in_a_row && !due_.empty() && under_way_ < defaults::writes_under_way;
       ++i) {
    const auto key = due_.extract(due_.begin()).value();
    // The answer to the write enqueues it again.
    if (busy_.contains(key)) {
      later_.insert(key);
      continue;
    }
    if (key.starts_with(claims().prefix()))
      sync_claim(state, key);
    else
      sync_volume(state, key);
  }
  wake();
}

void volume_binder::sync_volume(const persistence::snapshot& state, const std::string& key) {
  const auto object = state.find(key);
  if (!object) return;
  const auto& volume = object->as<PersistentVolume>();
  const auto& reference = volume.spec().claim_ref();
  const auto claim = volume.spec().has_claim_ref()
                         ? state.find(claims().key(reference.namespace_(), reference.name()))
                         : nullptr;
  const bool has_node = state.find(api::kind_of<Node>().key({}, node_of(volume))) != nullptr;
  const auto step =
      plan_volume(volume, claim ? &claim->as<PersistentVolumeClaim>() : nullptr, has_node);
  if (step.remove && step.phase.empty()) return remove_volume(object);
  if (!step.empty()) change_volume(object, step);
}

void volume_binder::sync_claim(const persistence::snapshot& state, const std::string& key) {
  const auto object = state.find(key);
  if (!object) return;
  const auto& claim = object->as<PersistentVolumeClaim>();
  std::vector<api::object_ptr> all;
  for (const auto& [name, each] : classes_)
    all.push_back(each);
  const auto found = classes_.find(class_of(claim));
  const auto& name = claim.spec().volume_name();
  const claim_facts facts{
      .claim = claim,
      .storage_class = found == classes_.end() ? nullptr : found->second,
      .default_class = default_class_of(all),
      .named = name.empty() ? nullptr : state.find(api::kind_of<PersistentVolume>().key({}, name)),
      .candidates = name.empty() ? candidates(state, claim, key) : std::vector<api::object_ptr>{}};
  take_step(state, object, plan_claim(facts));
}

// Volumes that are free or reserved for the claim, except those with a pending binding.
std::vector<api::object_ptr> volume_binder::candidates(const persistence::snapshot& state,
                                                       const PersistentVolumeClaim& claim,
                                                       const std::string& key) const {
  std::vector<api::object_ptr> found;
  const auto take = [&](const key_set& keys) {
    for (const auto& each : keys)
      if (auto volume = busy_.contains(each) ? nullptr : state.find(each))
        found.push_back(std::move(volume));
  };
  take(keys_of(of_claim_, key));
  take(keys_of(free_, class_of(claim)));
  return found;
}

}  // namespace troupe::actors::volumes
