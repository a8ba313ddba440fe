#include "actors/kubelet/workers/references.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "actors/kubelet/defaults.hpp"
#include "api/object/object_key.hpp"

namespace troupe::actors {

const runtime::behavior& references::make_behavior() const {
  static const runtime::behavior table = runtime::handlers(
      &references::on_watch_events, &references::on_watch_ended, &references::on_need_references);
  return table;
}

void references::started() {
  sweep_ = every(kubelet_defaults::pod_resync, [this] { sweep(); });
}

std::string references::describe() const {
  return fmt::format("pods: {}\nobjects: {}\n", users_.size(), entries_.size());
}

void references::on_need_references(const need_references& m) {
  const auto user = sender();
  auto& known = users_[user];
  known.last_heard = now();
  const std::set<std::string> wanted{m.keys.begin(), m.keys.end()};
  const auto before = std::exchange(known.keys, wanted);
  for (const auto& key : before)
    if (!wanted.contains(key)) drop(key, user);
  for (const auto& key : wanted)
    if (!before.contains(key)) use(key, user);
  if (wanted.empty()) users_.erase(user);
}

void references::use(const std::string& key, const runtime::actor_ref& user) {
  auto& e = entries_[key];
  e.users.push_back(user);
  if (e.id == 0)
    e.id = follow(key, [this, key](const watch_events& m) { on_object(key, m); });
  else if (e.known)
    tell(user, event_of(key, e));
}

reference_event references::event_of(const std::string& key, const entry& of) {
  if (!key.ends_with('/')) return {.key = key, .object = of.object};
  auto list = std::make_shared<object_list>();
  for (const auto& [name, object] : of.below)
    list->push_back(object);
  return {.key = key, .list = std::move(list)};
}

void references::drop(const std::string& key, const runtime::actor_ref& user) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return;
  std::erase(found->second.users, user);
  if (!found->second.users.empty()) return;
  unfollow(found->second.id);
  entries_.erase(found);
}

void references::on_object(const std::string& key, const watch_events& m) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return;
  auto& e = found->second;
  bool changed = m.synced && !std::exchange(e.known, e.known || m.synced);
  for (const auto& event : m.events) {
    if (event.type == event_type::bookmark) continue;
    const bool gone = event.type == event_type::deleted;
    if (!key.ends_with('/'))
      e.object = gone ? nullptr : event.object;
    else if (gone)
      e.below.erase(api::key_of(*event.object));
    else
      e.below[api::key_of(*event.object)] = event.object;
    changed = true;
  }
  if (!e.known || !changed) return;
  const auto event = event_of(key, e);
  for (const auto& user : e.users)
    tell(user, event);
}

// Removes workers that have ended without a message.
void references::sweep() {
  std::vector<runtime::actor_ref> silent;
  for (const auto& [user, known] : users_)
    if (now() - known.last_heard > kubelet_defaults::references_forgotten) silent.push_back(user);
  for (const auto& user : silent) {
    for (const auto& key : users_[user].keys)
      drop(key, user);
    users_.erase(user);
  }
}

}  // namespace troupe::actors
