#include "actors/quota/quota_status.hpp"

#include <spdlog/fmt/fmt.h>

#include <utility>

#include "actors/core/condition.hpp"
#include "actors/defaults.hpp"
#include "api/equality.hpp"
#include "api/object/object_key.hpp"
#include "api/scheme.hpp"

namespace troupe::actors::quota {

using api::core::v1::ResourceQuota;

quota_status::quota_status(const persistence::store* store, core_actors core,
                           std::shared_ptr<quota_ledger> ledger)
    : informer{core.watcher}, store_{*store}, core_{std::move(core)}, ledger_{std::move(ledger)} {}

const runtime::behavior& quota_status::make_behavior() const {
  static const auto table =
      runtime::handlers(&quota_status::on_watch_events, &quota_status::on_watch_ended);
  return table;
}

void quota_status::started() {
  follow(api::kind_of<ResourceQuota>().prefix(), [this](const watch_events& m) { on_quotas(m); });
}

std::string quota_status::describe() const {
  return fmt::format("quotas: {}\nstatusesWritten: {}\n", quotas_.size(), written_);
}

// Compares a quota again that another client has changed.
void quota_status::on_quotas(const watch_events& m) {
  for (const auto& event : m.events) {
    if (!event.object) continue;
    auto key = api::key_of(*event.object);
    if (event.type == event_type::deleted) {
      quotas_.erase(key);
    } else {
      ledger_->mark_changed(event.object->meta().namespace_(), key);
      quotas_.insert(std::move(key));
    }
  }
  if (quotas_.empty())
    round_ = {};
  else if (!round_.pending())
    round_ = every(defaults::quota_status_period, [this] { write_changed(); });
}

void quota_status::write_changed() {
  for (const auto& usage : ledger_->take_changed(seconds_of(wall_now())))
    write(usage);
}

void quota_status::write(const quota_ledger::usage& usage) {
  const auto stored = store_.read().find(usage.key);
  if (!stored) return;
  auto changed = stored->copy_as<ResourceQuota>();
  // If the ledger has a newer quota than the store read here, that change triggers another write.
  auto used = usage.used;
  for (const auto& [name, amount] : usage.spec.hard())
    used.try_emplace(name);
  std::erase_if(used, [&](const auto& entry) { return !usage.spec.hard().contains(entry.first); });
  auto& status = *changed->mutable_status();
  *status.mutable_hard() = usage.spec.hard();
  api::write_resource_list(used, *status.mutable_used());
  if (api::same_meaning(*changed, stored->content())) return;
  auto transaction = std::make_shared<persistence::transaction>();
  transaction->preconditions.push_back({usage.key, stored->revision()});
  transaction->mutations.push_back({usage.key, &stored->kind(), std::move(changed)});
  transaction->cause.author = "quota-status";
  request<commit_done>(core_.writer, commit{std::move(transaction)}, defaults::write_timeout,
                       [this, ns = usage.ns, key = usage.key](const auto& answered) {
                         if (answered && (*answered)->result)
                           ++written_;
                         else
                           ledger_->mark_changed(ns, key);
                       });
}

}  // namespace troupe::actors::quota
