#include "actors/nodes/minions.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <utility>

#include "actors/core/log.hpp"
#include "actors/defaults.hpp"
#include "api/schema/coordination_v1.pb.h"
#include "api/schema/core_node.pb.h"
#include "api/scheme.hpp"

namespace troupe::actors {

using api::coordination::v1::Lease;
using api::core::v1::Node;

namespace {

bool fails(readiness ready) {
  return ready == readiness::not_ready || ready == readiness::unknown;
}

}  // namespace

minions::minions(const persistence::store* store, core_actors core, runtime::duration grace)
    : informer{core.watcher}, store_{store}, core_{std::move(core)}, grace_{grace} {}

const runtime::behavior& minions::make_behavior() const {
  static const auto table = runtime::handlers(&minions::on_watch_events, &minions::on_watch_ended);
  return table;
}

void minions::started() {
  follow(api::kind_of<Node>().prefix(), [this](const watch_events& m) { on_nodes(m); });
  follow(api::kind_of<Lease>().prefix(defaults::node_lease_namespace),
         [this](const watch_events& m) { on_leases(m); });
  round_ = every(defaults::node_monitor_period, [this] { round(); });
}

std::string minions::describe() const {
  const auto failing = std::count_if(rows_.begin(), rows_.end(),
                                     [](const auto& entry) { return fails(entry.second.ready); });
  return fmt::format("nodes: {}\nfailing: {}\nallDown: {}\n", rows_.size(), failing, all_down_);
}

// -- messages from the watcher --------------------------------------------------------------------

void minions::on_nodes(const watch_events& m) {
  for (const auto& event : m.events) {
    if (!event.object) continue;
    current_cause({event.cause.request, event.at});
    const auto& name = event.object->meta().name();
    if (event.type != event_type::deleted) {
      take_node(name, event);
    } else if (const auto found = rows_.find(name); found != rows_.end()) {
      stop_child(found->second.actor);
      rows_.erase(found);
      record_node_event(event.object, "RemovingNode", "Removing Node " + name + " from Controller");
    }
  }
  if (m.synced && !std::exchange(complete_, true)) {
    stop_children_except("minion",
                         [this](const std::string& name) { return rows_.contains(name); });
  }
}

void minions::take_node(const std::string& name, const watch_event& event) {
  auto [found, fresh] = rows_.try_emplace(name);
  auto& r = found->second;
  if (fresh) {
    record_node_event(event.object, "RegisteredNode", "Registered Node " + name + " in Controller");
    // It may have survived a crash of this supervisor; a new one reads its Node itself.
    r.actor = child("minion", name);
    fresh = !r.actor;
    if (fresh) {
      r.actor =
          spawn({.kind = "minion", .name = name}, runtime::make<minion>(store_, core_, grace_));
    }
  }
  if (!fresh) tell(r.actor, owner_event{.object = event.object, .at = event.at});
  const auto& node = event.object->as<Node>();
  const auto ready = readiness_of(node);
  if (fails(ready) && !fails(r.ready)) r.since = now();
  r.ready = ready;
  r.zone = zone_of(node);
  r.away = has_eviction_taint(node);
  r.granted = fails(ready) && (r.granted || r.away);
}

// kubernetes: controller/util/node/controller_utils.go, RecordNodeEvent. Nodes that were known to
// an earlier life of this actor are registered again.
void minions::record_node_event(const api::object_ptr& node, const char* reason,
                                const std::string& text) {
  tell(core_.recorder,
       record_event{.about = node,
                    .reason = reason,
                    .message = fmt::format("Node {} event: {}", node->meta().name(), text),
                    .component = "node-controller"});
}

void minions::on_leases(const watch_events& m) {
  for (const auto& event : m.events) {
    if (!event.object) continue;
    const auto found = rows_.find(event.object->meta().name());
    if (found == rows_.end()) continue;
    current_cause({event.cause.request, event.at});
    tell(found->second.actor, dependent_event{event});
  }
}

// -- how fast pods are sent away ------------------------------------------------------------------

void minions::round() {
  if (!complete_) return;
  repeat_permissions();
  std::map<std::string, zone_count> counts;
  for (const auto& [name, r] : rows_) {
    auto& count = counts[r.zone];
    ++(r.ready == readiness::ready ? count.ready : count.not_ready);
  }
  if (all_down(counts)) {
    if (!std::exchange(all_down_, true))
      log().info("nodes: none of {} is ready: no pods are evicted", rows_.size());
    return hold_all();
  }
  // Give the nodes time to show that they were alive.
  if (std::exchange(all_down_, false)) {
    resume_at_ = now() + grace_;
    log().info("nodes: some are ready again: pods may be evicted after {:.0f} s",
               std::chrono::duration<double>(grace_).count());
  }
  if (now() < resume_at_) return;
  std::erase_if(zones_, [&](const auto& entry) { return !counts.contains(entry.first); });
  for (const auto& [name, count] : counts)
    grant(name, count);
}

// A minion keeps its permission in memory until its Node shows it, and both actors may have been
// restarted meanwhile.
void minions::repeat_permissions() {
  for (const auto& [name, r] : rows_)
    if (fails(r.ready) && r.granted != r.away) tell(r.actor, eviction_permission{r.granted});
}

void minions::hold_all() {
  for (auto& [name, r] : rows_) {
    if (std::exchange(r.granted, false)) tell(r.actor, eviction_permission{false});
  }
}

void minions::grant(const std::string& zone_name, const zone_count& count) {
  auto& z = zones_.try_emplace(zone_name, zone{1, now()}).first->second;
  const auto passed = std::chrono::duration<double>(now() - z.counted_at).count();
  z.counted_at = now();
  z.allowance = std::min(1.0, z.allowance + passed * eviction_rate(count));
  if (z.allowance < 1) return;
  row* next = nullptr;
  for (auto& [name, r] : rows_) {
    if (r.zone != zone_name || r.granted || !fails(r.ready)) continue;
    if (next == nullptr || r.since < next->since) next = &r;
  }
  if (next == nullptr) return;
  z.allowance -= 1;
  next->granted = true;
  tell(next->actor, eviction_permission{true});
}

}  // namespace troupe::actors
