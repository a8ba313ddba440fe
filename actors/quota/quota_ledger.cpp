#include "actors/quota/quota_ledger.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <utility>

#include "api/schema/meta_object.pb.h"
#include "api/scheme.hpp"

namespace troupe::actors::quota {
namespace {

using api::quantity;
using api::resource_list;
using api::core::v1::ResourceQuota;
using api::core::v1::ResourceQuotaSpec;
using persistence::change;
using persistence::change_type;

void subtract(resource_list& from, const resource_list& other) {
  for (const auto& [name, amount] : other)
    from[name] -= amount;
}

// Increases from `was` to `now`, by name; decreases count only once committed.
resource_list growth(resource_list now, const resource_list& was) {
  subtract(now, was);
  std::erase_if(now, [](const auto& entry) { return entry.second.sign() <= 0; });
  return now;
}

std::string amounts_text(const resource_list& amounts, const std::vector<std::string>& names) {
  std::vector<std::string> texts;
  for (const auto& name : names) {
    const auto found = amounts.find(name);
    texts.push_back(name + "=" + (found == amounts.end() ? quantity{} : found->second).str());
  }
  return fmt::format("{}", fmt::join(texts, ","));
}

}  // namespace

// -- committed changes --------------------------------------------------------------------------

void quota_ledger::load(const persistence::snapshot& state) {
  const std::lock_guard lock{mutex_};
  by_namespace_.clear();
  leaving_.clear();
  leaving_due_.clear();
  std::size_t count = 0;
  const auto& kind = api::kind_of<ResourceQuota>();
  state.scan(kind.prefix(), {}, [&](std::string_view key, const api::object_ptr& object) {
    const auto& quota = object->as<ResourceQuota>();
    auto& into = by_namespace_[object->meta().namespace_()][std::string{key}];
    into.id = ++last_id_;
    into.name = object->meta().name();
    into.spec = quota.spec();
    into.hard = api::read_resource_list(quota.spec().hard());
    into.used = count_in(state, object->meta().namespace_(), quota.spec());
    ++count;
    return true;
  });
  quotas_ = count;
}

void quota_ledger::take(const std::vector<change>& changes) {
  const auto& kind = api::kind_of<ResourceQuota>();
  if (quotas_ == 0 && std::none_of(changes.begin(), changes.end(),
                                   [&](const auto& each) { return &each.object->kind() == &kind; }))
    return;
  const std::lock_guard lock{mutex_};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    if (!changes[i].object->kind().namespaced()) continue;
    take_object(changes[i]);
    if (&changes[i].object->kind() == &kind) take_quota({changes.data(), i + 1});
  }
}

void quota_ledger::take_object(const change& of) {
  if (const auto holds = reservations_of_object_.find(of.key);
      holds != reservations_of_object_.end())
    drop_reservations(holds->second.front(), of.key);
  const auto found = by_namespace_.find(of.object->meta().namespace_());
  if (found == by_namespace_.end()) return;
  const bool removed = of.type == change_type::removed;
  std::vector<resource_list> before;
  for (const auto& [key, entry] : found->second)
    before.push_back(of.previous ? charge(entry.spec, of.key, *of.previous) : resource_list{});
  removed ? forget_leaving(of.key) : track_leaving(of.key, of.object);
  auto was = before.begin();
  for (auto& [key, entry] : found->second) {
    auto delta = removed ? resource_list{} : charge(entry.spec, of.key, *of.object);
    subtract(delta, *was++);
    for (const auto& [name, amount] : delta) {
      if (amount.is_zero()) continue;
      entry.used[name] += amount;
      entry.changed = true;
    }
  }
}

// The last of the changes is that of a quota.
void quota_ledger::take_quota(std::span<const change> changes) {
  const auto& now = changes.back();
  const auto& ns = now.object->meta().namespace_();
  if (now.type == change_type::removed) {
    auto& entries = by_namespace_[ns];
    quotas_ -= entries.erase(now.key);
    if (!entries.empty()) return;
    std::erase_if(leaving_due_, [&](const auto& due) {
      return leaving_.at(due.second).object->meta().namespace_() == ns;
    });
    std::erase_if(leaving_,
                  [&](const auto& each) { return each.second.object->meta().namespace_() == ns; });
    by_namespace_.erase(ns);
    return;
  }
  const auto& spec = now.object->as<ResourceQuota>().spec();
  auto& entries = by_namespace_[ns];
  const auto [found, added] = entries.try_emplace(now.key);
  auto& entry = found->second;
  quotas_ += added;
  if (added) entry.id = ++last_id_;
  entry.changed = true;
  if (!added && entry.spec.SerializeAsString() == spec.SerializeAsString()) return;
  entry.name = now.object->meta().name();
  entry.spec = spec;
  entry.hard = api::read_resource_list(spec.hard());
  entry.used = count_in(store_.read(), ns, spec);
  // The readable state is the one before the batch.
  for (const auto& each : changes) {
    if (!each.object->kind().namespaced() || each.object->meta().namespace_() != ns) continue;
    if (each.previous) subtract(entry.used, charge(spec, each.key, *each.previous));
    if (each.type == change_type::removed) {
      forget_leaving(each.key);
      continue;
    }
    track_leaving(each.key, each.object);
    api::add_to(entry.used, charge(spec, each.key, *each.object));
  }
}

api::resource_list quota_ledger::count_in(const persistence::snapshot& state, const std::string& ns,
                                          const ResourceQuotaSpec& quota) {
  resource_list result;
  for (const auto* kind : api::scheme::instance().all()) {
    if (!kind->namespaced() || !kind->stored() || !may_count(quota, *kind)) continue;
    state.scan(kind->prefix(ns), {}, [&](std::string_view at, const api::object_ptr& object) {
      const std::string key{at};
      if (!leaving_.contains(key)) track_leaving(key, object);
      api::add_to(result, charge(quota, key, *object));
      return true;
    });
  }
  return result;
}

// -- pods on lost nodes -------------------------------------------------------------------------

api::resource_list quota_ledger::charge(const ResourceQuotaSpec& quota, const std::string& key,
                                        const api::object& of) const {
  const auto found = leaving_.find(key);
  return quota::charge(quota, of.kind(), of.content(),
                       found != leaving_.end() && found->second.overdue);
}

void quota_ledger::track_leaving(const std::string& key, const api::object_ptr& object) {
  const auto until = overdue_after(*object);
  const auto found = leaving_.find(key);
  if (found != leaving_.end() && found->second.until == until) {
    found->second.object = object;
    return;
  }
  forget_leaving(key);
  if (!until) return;
  leaving_.insert_or_assign(key, leaving_pod{object, *until});
  leaving_due_.emplace(*until, key);
}

void quota_ledger::forget_leaving(const std::string& key) {
  const auto found = leaving_.find(key);
  if (found == leaving_.end()) return;
  leaving_due_.erase({found->second.until, key});
  leaving_.erase(found);
}

// Subtracts the pods whose grace period is over.
void quota_ledger::release_overdue(std::int64_t now) {
  while (!leaving_due_.empty() && leaving_due_.begin()->first < now) {
    const auto key = leaving_due_.begin()->second;
    leaving_due_.erase(leaving_due_.begin());
    auto& pod = leaving_.at(key);
    for (auto& [quota_key, entry] : by_namespace_.at(pod.object->meta().namespace_())) {
      subtract(entry.used, quota::charge(entry.spec, pod.object->kind(), pod.object->content()));
      api::add_to(entry.used,
                  quota::charge(entry.spec, pod.object->kind(), pod.object->content(), true));
      entry.changed = true;
    }
    pod.overdue = true;
  }
}

// -- reservations -------------------------------------------------------------------------------

persistence::expected<std::uint64_t> quota_ledger::reserve(persistence::transaction& transaction,
                                                           std::int64_t now) {
  if (quotas_ == 0) return 0;
  const auto state = store_.read();
  const std::lock_guard lock{mutex_};
  release_overdue(now);
  const auto id = ++last_id_;
  for (const auto& each : transaction.mutations) {
    if (each.content == nullptr || !each.kind->namespaced()) continue;
    const auto found = by_namespace_.find(api::meta_of(*each.content).namespace_());
    if (found == by_namespace_.end()) continue;
    const auto before = state.find(each.key);
    bool reserved = false;
    for (auto& [key, entry] : found->second) {
      auto amounts = growth(
          quota::charge(entry.spec, *each.kind, *each.content),
          before ? quota::charge(entry.spec, before->kind(), before->content()) : resource_list{});
      if (amounts.empty()) continue;
      if (auto refusal = check(key, entry, amounts)) {
        drop_all_reservations(id);
        return persistence::fail(std::move(*refusal));
      }
      api::add_to(entry.held, amounts);
      reservations_[id].push_back({each.key, found->first, key, entry.id, std::move(amounts)});
      if (!std::exchange(reserved, true)) reservations_of_object_[each.key].push_back(id);
      transaction.group = {found->first, state.at()};
    }
  }
  return reservations_.contains(id) ? id : 0;
}

std::optional<persistence::error> quota_ledger::check(const std::string& key, const entry& quota,
                                                      const resource_list& amounts) {
  std::vector<std::string> exceeded;
  auto taken = quota.used;
  api::add_to(taken, quota.held);
  for (const auto& [name, amount] : amounts)
    if (taken[name] + amount > quota.hard.at(name)) exceeded.push_back(name);
  if (exceeded.empty()) return std::nullopt;
  return persistence::error{
      .code = persistence::errc::exceeded,
      .message = fmt::format("exceeded quota: {}, requested: {}, used: {}, limited: {}", quota.name,
                             amounts_text(amounts, exceeded), amounts_text(taken, exceeded),
                             amounts_text(quota.hard, exceeded)),
      .key = key};
}

void quota_ledger::release(std::uint64_t id) {
  if (id == 0) return;
  const std::lock_guard lock{mutex_};
  drop_all_reservations(id);
}

void quota_ledger::drop_all_reservations(std::uint64_t id) {
  while (true) {
    const auto found = reservations_.find(id);
    if (found == reservations_.end()) return;
    drop_reservations(id, std::string{found->second.front().object_key});
  }
}

void quota_ledger::drop_reservations(std::uint64_t id, const std::string& object_key) {
  if (const auto ids = reservations_of_object_.find(object_key);
      ids != reservations_of_object_.end()) {
    std::erase(ids->second, id);
    if (ids->second.empty()) reservations_of_object_.erase(ids);
  }
  const auto found = reservations_.find(id);
  if (found == reservations_.end()) return;
  std::erase_if(found->second, [&](const reservation& each) {
    if (each.object_key != object_key) return false;
    // A quota that was created again has counted nothing for it.
    if (auto* quota = find(each.ns, each.quota_key); quota && quota->id == each.quota_id)
      subtract(quota->held, each.amounts);
    return true;
  });
  if (found->second.empty()) reservations_.erase(found);
}

// -- status -------------------------------------------------------------------------------------

quota_ledger::entry* quota_ledger::find(const std::string& ns, const std::string& quota_key) {
  const auto entries = by_namespace_.find(ns);
  if (entries == by_namespace_.end()) return nullptr;
  const auto found = entries->second.find(quota_key);
  return found == entries->second.end() ? nullptr : &found->second;
}

std::vector<quota_ledger::usage> quota_ledger::take_changed(std::int64_t now) {
  if (quotas_ == 0) return {};
  std::vector<usage> result;
  const std::lock_guard lock{mutex_};
  release_overdue(now);
  for (auto& [ns, entries] : by_namespace_)
    for (auto& [key, entry] : entries)
      if (std::exchange(entry.changed, false)) result.push_back({ns, key, entry.spec, entry.used});
  return result;
}

void quota_ledger::mark_changed(const std::string& ns, const std::string& quota_key) {
  const std::lock_guard lock{mutex_};
  if (auto* quota = find(ns, quota_key)) quota->changed = true;
}

}  // namespace troupe::actors::quota
