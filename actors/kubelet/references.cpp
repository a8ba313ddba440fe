#include "actors/kubelet/references.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "actors/kubelet/defaults.hpp"

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
  const auto who = sender();
  auto& known = users_[who];
  known.last_heard = now();
  const std::set<std::string> wanted{m.keys.begin(), m.keys.end()};
  const auto before = std::exchange(known.keys, wanted);
  for (const auto& key : before)
    if (!wanted.contains(key)) drop(key, who);
  for (const auto& key : wanted)
    if (!before.contains(key)) use(key, who);
  if (wanted.empty()) users_.erase(who);
}

void references::use(const std::string& key, const runtime::actor_ref& who) {
  auto& e = entries_[key];
  e.users.push_back(who);
  if (e.id == 0)
    e.id = follow(key, [this, key](const watch_events& m) { on_object(key, m); });
  else if (e.known)
    tell(who, reference_news{key, e.object});
}

void references::drop(const std::string& key, const runtime::actor_ref& who) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return;
  std::erase(found->second.users, who);
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
    e.object = event.type == event_type::deleted ? nullptr : event.object;
    changed = true;
  }
  if (!e.known || !changed) return;
  for (const auto& who : e.users)
    tell(who, reference_news{key, e.object});
}

// Workers that have ended without a word.
void references::sweep() {
  std::vector<runtime::actor_ref> silent;
  for (const auto& [who, known] : users_)
    if (now() - known.last_heard > kubelet_defaults::references_forgotten) silent.push_back(who);
  for (const auto& who : silent) {
    for (const auto& key : users_[who].keys)
      drop(key, who);
    users_.erase(who);
  }
}

}  // namespace troupe::actors
