#include "actors/scheduler/scheduler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>

#include "actors/core/condition.hpp"
#include "actors/core/labels.hpp"
#include "actors/core/log.hpp"
#include "actors/core/metrics.hpp"
#include "actors/core/pod_health.hpp"
#include "actors/scheduler/framework/defaults.hpp"
#include "actors/volumes/claim_rules.hpp"
#include "api/object/object_key.hpp"
#include "api/schema/core_namespace.pb.h"
#include "api/schema/core_node.pb.h"
#include "api/schema/core_pod.pb.h"
#include "api/schema/policy_budget.pb.h"
#include "api/scheme.hpp"
#include "runtime/actor_system.hpp"

namespace troupe::actors {

runtime::actor_ref spawn_scheduler(runtime::actor_system& system, const core_actors& core,
                                   scheduler_options options) {
  return system.spawn({.kind = "scheduler", .name = options.name},
                      runtime::make<scheduler::scheduler_actor>(options, core));
}

namespace scheduler {

namespace {

using api::core::v1::Namespace;
using api::core::v1::Node;
using api::core::v1::Pod;
using api::policy::v1::PodDisruptionBudget;

bool same_taints(const Node& a, const Node& b) {
  if (a.spec().unschedulable() != b.spec().unschedulable() ||
      a.spec().taints_size() != b.spec().taints_size())
    return false;
  for (int i = 0; i < a.spec().taints_size(); ++i) {
    const auto &x = a.spec().taints(i), &y = b.spec().taints(i);
    if (x.key() != y.key() || x.value() != y.value() || x.effect() != y.effect()) return false;
  }
  return true;
}

// Whether an earlier attempt found no node: its status survives a restart.
bool was_unschedulable(const Pod& pod) {
  const auto& all = pod.status().conditions();
  return std::any_of(all.begin(), all.end(), [](const auto& each) {
    return each.type() == "PodScheduled" && each.status() == "False" &&
           each.reason() == "Unschedulable";
  });
}

bool same_images(const Node& a, const Node& b) {
  const auto &x = a.status().images(), &y = b.status().images();
  return std::equal(x.begin(), x.end(), y.begin(), y.end(), [](const auto& one, const auto& other) {
    return one.size_bytes() == other.size_bytes() &&
           std::equal(one.names().begin(), one.names().end(), other.names().begin(),
                      other.names().end());
  });
}

std::uint32_t what_changed(const Node& was, const Node& now) {
  std::uint32_t events = 0;
  const auto before = read_resources(was.status().allocatable());
  const auto after = read_resources(now.status().allocatable());
  if (before.milli_cpu != after.milli_cpu || before.memory != after.memory ||
      before.pods != after.pods || before.ephemeral != after.ephemeral ||
      before.extended != after.extended)
    events |= node_resources_changed;
  if (!same_labels(was.metadata().labels(), now.metadata().labels())) events |= node_labels_changed;
  if (!same_taints(was, now)) events |= node_taints_changed;
  return events;
}

}  // namespace

scheduler_actor::scheduler_actor(const scheduler_options& options, core_actors core)
    : informer{core.watcher},
      core_{std::move(core)},
      profiles_{serve(options)},
      queue_{{options.profiles.front().backoff_first, options.profiles.front().backoff_longest},
             profiles_.front().plugins->order()} {}

std::vector<scheduler_actor::served_profile> scheduler_actor::serve(
    const scheduler_options& options) {
  std::vector<served_profile> result;
  for (const auto& each : options.profiles) {
    auto made = profile::make(each);
    if (!made) throw std::invalid_argument{made.error()};
    const auto& plugins = **made;
    result.push_back({std::move(*made), algorithm{plugins}});
  }
  if (result.empty()) throw std::invalid_argument{"a scheduler without profiles"};
  return result;
}

const runtime::behavior& scheduler_actor::make_behavior() const {
  static const runtime::behavior table =
      runtime::handlers(&scheduler_actor::on_watch_events, &scheduler_actor::on_watch_ended,
                        &scheduler_actor::on_schedule, &scheduler_actor::on_unschedule,
                        &scheduler_actor::on_continue_work, &scheduler_actor::on_plugin_bound);
  return table;
}

void scheduler_actor::started() {
  // Plugins may still answer an earlier incarnation.
  last_plugin_bind_ = random()();
  await_barrier();
}

void scheduler_actor::await_barrier() {
  request<barrier_done>(
      core_.writer, barrier{}, defaults::bind_timeout, [this](const auto& answered) {
        if (answered && (*answered)->reached) return begin();
        barrier_timer_ = after(defaults::barrier_retry, [this] { await_barrier(); });
      });
}

void scheduler_actor::begin() {
  begun_ = true;
  for (const auto& each : profiles_)
    log().info("scheduler: {} starts with profile {}", each.scheduler_name(),
               each.plugins->options().name);
  follow(api::kind_of<Namespace>().prefix(), [this](const watch_events& m) { on_namespaces(m); });
  follow(api::kind_of<Node>().prefix(), [this](const watch_events& m) { on_nodes(m); });
  for (const auto* kind :
       {&api::kind_of<volumes::StorageClass>(), &api::kind_of<volumes::PersistentVolume>(),
        &api::kind_of<volumes::PersistentVolumeClaim>(),
        &api::kind_of<api::storage::v1::CSINode>()})
    follow(kind->prefix(), [this](const watch_events& m) { on_volumes(m); });
  follow(api::kind_of<PodDisruptionBudget>().prefix(),
         [this](const watch_events& m) { on_budgets(m); });
  follow(api::kind_of<Pod>().prefix(), [this](const watch_events& m) { on_pods(m); });
  flush_timer_ = every(defaults::flush_period, [this] {
    queue_.flush(now());
    wake();
  });
}

std::string scheduler_actor::describe() const {
  std::vector<std::string_view> names;
  for (const auto& each : profiles_)
    names.push_back(each.plugins->options().name);
  return fmt::format(
      "profile: {}\nnodes: {}\npods: {}\nactive: {}\nbackingOff: {}\nunschedulable: {}\n"
      "binding: {}\nbound: {}\nrefused: {}\nfailed: {}\n",
      fmt::join(names, ", "), view_.nodes().size(), view_.pods(), queue_.active(),
      queue_.backing_off(), queue_.unschedulable(), binding_, bound_, refused_, failed_);
}

// -- messages -------------------------------------------------------------------------------------

// Most pods arrive by the pods' stream; this message is a pod's actor making sure.
void scheduler_actor::on_schedule(const schedule& m) {
  enqueue(m.pod, current_cause().request);
}

void scheduler_actor::on_unschedule(const unschedule& m) {
  queue_.remove(m.pod_key);
  view_.forget(m.pod_key);
}

void scheduler_actor::on_namespaces(const watch_events& m) {
  for (const auto& event : m.events)
    if (event.type != event_type::bookmark) take_namespace(event);
  wake();
}

// They change which pods preemption evicts, not which pods fit.
void scheduler_actor::on_budgets(const watch_events& m) {
  for (const auto& event : m.events) {
    if (event.type == event_type::bookmark) continue;
    if (event.type == event_type::deleted)
      view_.remove_budget(*event.object);
    else
      view_.put_budget(event.object);
  }
}

void scheduler_actor::on_nodes(const watch_events& m) {
  for (const auto& event : m.events)
    if (event.type != event_type::bookmark) take_node(event);
  wake();
}

void scheduler_actor::on_pods(const watch_events& m) {
  for (const auto& event : m.events)
    if (event.type != event_type::bookmark) take_pod(event);
  wake();
}

void scheduler_actor::on_volumes(const watch_events& m) {
  for (const auto& event : m.events) {
    if (event.type == event_type::bookmark) continue;
    if (event.type == event_type::deleted)
      view_.volumes().remove(*event.object);
    else
      view_.volumes().put(event.object);
  }
  if (!m.events.empty()) happened(volumes_changed);
  std::vector<std::string> waiting;
  for (const auto& [key, each] : preparing_)
    waiting.push_back(key);
  for (const auto& key : waiting)
    continue_preparing(key);
  wake();
}

// -- state ----------------------------------------------------------------------------------------

void scheduler_actor::take_namespace(const watch_event& event) {
  const auto& meta = event.object->meta();
  if (event.type == event_type::deleted) return view_.remove_namespace(meta.name());
  view_.put_namespace(event.object);
  if (!event.previous || !same_labels(event.previous->meta().labels(), meta.labels()))
    happened(namespace_labels_changed);
}

void scheduler_actor::take_node(const watch_event& event) {
  const auto& name = event.object->meta().name();
  if (event.type == event_type::deleted) {
    view_.remove_node(name);
    return happened(node_labels_changed);  // its topology domains may be gone
  }
  const auto* known = view_.find(name);
  const auto events =
      known == nullptr ? node_added : what_changed(known->body(), event.object->as<Node>());
  const bool heartbeat =
      known != nullptr && events == 0 && same_images(known->body(), event.object->as<Node>());
  if (heartbeat) return;
  view_.put_node(event.object);
  happened(events);
}

void scheduler_actor::take_pod(const watch_event& event) {
  const auto key = api::key_of(*event.object);
  if (event.object->revision() <= view_.bound_at(key)) return;
  // Before the body is read: that of a removed pod would be copied for it.
  if (event.type == event_type::deleted) return remove_pod(key);
  const auto& pod = event.object->as<Pod>();
  if (is_terminated(pod)) return remove_pod(key);
  if (pod.spec().node_name().empty()) return enqueue(event.object, event.cause.request);
  const bool newcomer = view_.node_of(key) != pod.spec().node_name() || view_.assumed(key);
  // Of a bound pod only its labels, its end and its resources matter.
  const bool ends = event.previous && event.previous->meta().has_deletion_timestamp() !=
                                          pod.metadata().has_deletion_timestamp();
  const bool resized =
      !newcomer && !ends && event.previous && !have_equal_requests(event.previous->as<Pod>(), pod);
  if (!newcomer && !ends && event.previous && !resized &&
      same_labels(event.previous->meta().labels(), pod.metadata().labels()))
    return;
  view_.put_pod(read_pod_info(event.object), pod.spec().node_name());
  queue_.remove(key);
  happened(resized ? pod_bound | pod_deleted : pod_bound);
}

void scheduler_actor::enqueue(const api::object_ptr& object, std::uint64_t request) {
  const auto& pod = object->as<Pod>();
  if (!pod.spec().node_name().empty()) return;
  const auto* served = find_profile(pod.spec().scheduler_name());
  if (served == nullptr) return;
  const auto info = read_pod_info(object, request);
  // An old state of a pod that was bound since: its actor's message is late.
  if (view_.bound_at(info->key) != 0) return;
  if (pod.metadata().has_deletion_timestamp()) {
    queue_.remove(info->key);
    return view_.forget(info->key);
  }
  try {
    for (const auto* gate : served->plugins->gates())
      if (const auto result = gate->pre_enqueue(*info); !result.ok()) {
        queue_.remove(info->key);
        return report_unschedulable(info, "SchedulingGated", result.reason, {});
      }
  } catch (...) {
    // The pod's actor repeats its request later.
    queue_.remove(info->key);
    return plugin_failed(info);
  }
  // A nomination from before this scheduler started.
  if (info->nominated && !queue_.knows(info->key) && view_.node_of(info->key).empty())
    view_.nominate(info, pod.status().nominated_node_name());
  queue_.add(info, now());
  wake();
}

void scheduler_actor::remove_pod(const std::string& key) {
  queue_.remove(key);
  if (view_.node_of(key).empty()) return;
  view_.remove_pod(key);
  happened(pod_deleted);
}

void scheduler_actor::happened(std::uint32_t events) {
  if (events != 0) queue_.happened(events, now());
}

// Null for pods of another scheduler.
scheduler_actor::served_profile* scheduler_actor::find_profile(const std::string& scheduler_name) {
  const std::string_view name =
      scheduler_name.empty() ? std::string_view{defaults::scheduler_name} : scheduler_name;
  const auto found = std::find_if(profiles_.begin(), profiles_.end(),
                                  [&](const auto& each) { return each.scheduler_name() == name; });
  return found == profiles_.end() ? nullptr : &*found;
}

// The profile of an accepted pod or a victim.
scheduler_actor::served_profile& scheduler_actor::profile_of(const pod_info& pod) {
  auto* found = find_profile(pod.body().spec().scheduler_name());
  return found == nullptr ? profiles_.front() : *found;
}

// -- one pod --------------------------------------------------------------------------------------

// Continues after the queued messages, so that a long queue does not delay cluster
// events.
void scheduler_actor::wake() {
  auto& shown = metrics_of_scheduler();
  shown.active.store(queue_.active(), std::memory_order_relaxed);
  shown.backing_off.store(queue_.backing_off(), std::memory_order_relaxed);
  shown.waiting.store(queue_.unschedulable(), std::memory_order_relaxed);
  if (continuing_ || !begun_ || !synced()) return;
  if (queue_.active() > 0 && binding_ < defaults::binds_limit) {
    continuing_ = true;
    tell(self(), continue_work{});
  } else if (const auto due = queue_.next_due()) {
    const auto wait = std::max<runtime::duration>(*due - now(), runtime::duration{1});
    due_timer_ = after(wait, [this] {
      continuing_ = true;
      on_continue_work({});
    });
  }
}

void scheduler_actor::on_continue_work(const continue_work&) {
  continuing_ = false;
  for (std::size_t i = 0; i < defaults::pods_in_a_row && binding_ < defaults::binds_limit; ++i) {
    const auto pod = queue_.next(now());
    if (!pod) break;
    schedule_one(pod);
  }
  wake();
}

void scheduler_actor::schedule_one(const pod_info_ptr& pod) {
  // Many pods are scheduled in one run: the cause of each attempt is the pod's last change.
  current_cause({.request = pod->request, .revision = pod->pod->revision()});
  const auto lifted = view_.remove_nominations(*pod);
  std::string own;  // the node of its own nomination
  for (const auto& each : lifted)
    if (each.pod->key == pod->key) own = each.node;
  std::string taken;
  try {
    taken = attempt(pod, own);
  } catch (...) {
    queue_.refused(pod, 0, now());
    plugin_failed(pod);
  }
  for (const auto& each : lifted) {
    if (each.pod->key == pod->key) continue;
    if (each.node != taken) {
      view_.nominate(each.pod, each.node);
    } else {
      queue_.retry(each.pod->key, now());  // another node is needed
    }
  }
}

// The node that the pod is bound to or nominated for; empty if there is none.
std::string scheduler_actor::attempt(const pod_info_ptr& pod, const std::string& nominated) {
  const auto begin = std::chrono::steady_clock::now();
  auto found = profile_of(*pod).algorithm.schedule(pod, view_, random());
  metrics_of_scheduler().attempts.add(std::chrono::steady_clock::now() - begin);
  if (!found) return handle_unschedulable(pod, found.error(), nominated);
  if (const auto result = reserve(pod, *found); !result.ok())
    return handle_unschedulable(
        pod, {.message = result.reason, .helped_by = any_event, .make_room = {}}, {});
  bind_pod(pod, *found);
  return *found;
}

// Called while the exception is handled.
void scheduler_actor::plugin_failed(const pod_info_ptr& pod) {
  ++failed_;
  metrics_of_scheduler().failed.fetch_add(1, std::memory_order_relaxed);
  std::string error = "it threw something that is not an exception";
  try {
    throw;
  } catch (const std::exception& e) {
    error = e.what();
  } catch (...) {
  }
  log().warn("scheduler: a plugin failed for {} at revision {}: {}", pod->key, pod->pod->revision(),
             error);
  record(pod, true, "FailedScheduling", fmt::format("a scheduler plugin failed: {}", error));
}

// Runs all reserve plugins; on failure those already run are undone.
status scheduler_actor::reserve(const pod_info_ptr& pod, const std::string& node) {
  try {
    for (auto* each : profile_of(*pod).plugins->reserves())
      if (auto result = each->reserve(*pod, *view_.find(node)); !result.ok()) {
        unreserve(pod, node);
        return result;
      }
  } catch (...) {
    unreserve(pod, node);
    throw;
  }
  return {};
}

void scheduler_actor::unreserve(const pod_info_ptr& pod, const std::string& node) {
  for (auto* each : profile_of(*pod).plugins->reserves())
    each->unreserve(*pod, node);
}

std::string scheduler_actor::handle_unschedulable(const pod_info_ptr& pod,
                                                  const scheduler::fit_error& fit_error,
                                                  const std::string& nominated) {
  ++refused_;
  // A pod that waits long is tried often: only its first attempt is a result.
  log().log(was_unschedulable(pod->body()) ? spdlog::level::debug : spdlog::level::info,
            "scheduler: no node for {} at revision {}: {}", pod->key, pod->pod->revision(),
            fit_error.message);
  metrics_of_scheduler().unschedulable.fetch_add(1, std::memory_order_relaxed);
  auto node = fit_error.make_room.node;
  if (!nominated.empty() && are_victims_terminating(*pod, nominated)) {
    // Must not preempt more while victims terminate (kubernetes: PodEligibleToPreemptOthers).
    node = nominated;
    queue_.nominated(pod, now());
    view_.nominate(pod, node);
  } else if (!node.empty()) {
    preempt(pod, fit_error.make_room);
  } else {
    queue_.refused(pod, fit_error.helped_by, now());
  }
  report_unschedulable(pod, "Unschedulable", fit_error.message, node);
  record(pod, true, "FailedScheduling", fit_error.message);
  return node;
}

bool scheduler_actor::are_victims_terminating(const pod_info& pod, const std::string& node) const {
  const auto* known = view_.find(node);
  return known != nullptr &&
         std::any_of(known->pods().begin(), known->pods().end(), [&](const pod_info_ptr& other) {
           return other->priority < pod.priority && other->pod->meta().has_deletion_timestamp();
         });
}

// Evicts the victims, and nominates the pod so that their room is kept for it.
void scheduler_actor::preempt(const pod_info_ptr& pod, const scheduler::preemption& preemption) {
  queue_.nominated(pod, now());
  view_.nominate(pod, preemption.node);
  const auto& meta = pod->pod->meta();
  const auto& name = profile_of(*pod).scheduler_name();
  for (const auto& victim : preemption.victims) {
    log().info("scheduler: {} at revision {} is preempted on {} by {} at revision {}", victim->key,
               victim->pod->revision(), preemption.node, pod->key, pod->pod->revision());
    request<command_done>(
        core_.writer,
        evict{.pod_key = victim->key,
              .pod_uid = victim->pod->meta().uid(),
              .reason = "PreemptionByScheduler",
              .message = name + ": preempting to accommodate a higher priority pod",
              .cause = {.author = "scheduler/" + name}},
        defaults::bind_timeout, [this, key = pod->key](const auto& answered) {
          if (answered && ((*answered)->result || (*answered)->result.error().code == 404)) return;
          queue_.back_off(key, now());
          wake();
        });
    record(victim, false, "Preempted",
           fmt::format("Preempted by {}/{} on node {}", meta.namespace_(), meta.name(),
                       preemption.node));
  }
}

// Writes the reason to the pod's status if it has changed. A conflict does not matter: the newer
// state arrives by the watcher, and the next attempt reports again.
void scheduler_actor::report_unschedulable(const pod_info_ptr& pod, const std::string& reason,
                                           const std::string& message,
                                           const std::string& nominated) {
  auto changed = pod->pod->copy_as<Pod>();
  auto& status = *changed->mutable_status();
  bool news = set_condition(*status.mutable_conditions(),
                            {"PodScheduled", "False", reason, message}, wall_now());
  if (status.nominated_node_name() != nominated) {
    status.set_nominated_node_name(nominated);
    news = true;
  }
  if (!news) return;
  auto transaction = std::make_shared<persistence::transaction>();
  transaction->preconditions.push_back({pod->key, pod->pod->revision()});
  transaction->mutations.push_back({pod->key, &pod->pod->kind(), std::move(changed)});
  transaction->cause = {.request = current_cause().request,
                        .trigger = current_cause().revision,
                        .author = "scheduler/" + profile_of(*pod).scheduler_name()};
  tell(core_.writer, commit{std::move(transaction)});
}

void scheduler_actor::record(const pod_info_ptr& pod, bool warning, std::string reason,
                             std::string message) {
  tell(core_.recorder, record_event{.about = pod->pod,
                                    .warning = warning,
                                    .reason = std::move(reason),
                                    .message = std::move(message),
                                    .component = profile_of(*pod).scheduler_name(),
                                    .field_path = {},
                                    .host = {}});
}

}  // namespace scheduler
}  // namespace troupe::actors
