// The second half of an attempt: binds the pod to the chosen node.
#include <fmt/format.h>

#include "actors/core/log.hpp"
#include "actors/core/metrics.hpp"
#include "actors/scheduler/framework/defaults.hpp"
#include "actors/scheduler/scheduler.hpp"
#include "api/schema/meta_object.pb.h"

namespace troupe::actors::scheduler {

namespace {

// The pod was deleted, or its state (commands.cpp, plan_bind) does not allow a bind.
bool is_outdated(const api::error& problem) {
  return problem.code == 404 || problem.kind == "pods/binding";
}

tl::unexpected<api::error> refused(const status& result) {
  return api::fail(api::internal(result.reason));
}

}  // namespace

void scheduler_actor::bind_pod(const pod_info_ptr& pod, const std::string& node) {
  view_.assume(pod, node);
  ++binding_;
  auto first = pre_bind(*pod, node, false);
  if (!first.result.ok()) return bind_ended(pod, node, refused(first.result));
  if (first.ready) return send_bind(pod, node);
  // An earlier pod of this name.
  if (const auto other = preparing_.extract(pod->key)) {
    --binding_;
    unreserve(other.mapped().pod, other.mapped().node);
  }
  const auto attempt = ++last_attempt_;
  const auto& arguments = profile_of(*pod).plugins->options().arguments;
  auto limit = after(arguments.volume_timeout, [this, key = pod->key] {
    const auto late = std::move(preparing_.extract(key).mapped());
    bind_ended(late.pod, late.node,
               api::fail(api::internal("binding volumes: context deadline exceeded")));
  });
  preparing_[pod->key] = {pod, node, attempt, first.writes.size(), std::move(limit)};
  for (auto& write : first.writes)
    write_for(pod, attempt, std::move(write));
}

// Collects the preparations of all plugins of the profile.
preparation scheduler_actor::pre_bind(const pod_info& pod, const std::string& node, bool again) {
  preparation all;
  const auto* at = view_.find(node);
  if (at == nullptr) return {.result = {status_code::unschedulable, "the node no longer exists"}};
  try {
    for (const auto* each : profile_of(pod).plugins->pre_binders()) {
      auto of_plugin = each->pre_bind(pod, *at, view_, again);
      if (!of_plugin.result.ok()) return of_plugin;
      all.ready = all.ready && of_plugin.ready;
      for (auto& write : of_plugin.writes)
        all.writes.push_back(std::move(write));
    }
  } catch (const std::exception& e) {
    return {.result = {status_code::unschedulable,
                       fmt::format("a scheduler plugin failed: {}", e.what())}};
  }
  return all;
}

// Binds the pod once its preparation on the node is complete.
void scheduler_actor::continue_preparing(const std::string& pod_key) {
  const auto found = preparing_.find(pod_key);
  if (found == preparing_.end() || found->second.writes > 0) return;
  const auto next =
      view_.assumed(*found->second.pod)
          ? pre_bind(*found->second.pod, found->second.node, true)
          : preparation{.result = {status_code::unschedulable, "the pod no longer exists"}};
  if (next.result.ok() && !next.ready) return;
  const auto ended = preparing_.extract(found);
  const auto& [pod, node, attempt, writes, limit] = ended.mapped();
  if (next.result.ok()) return send_bind(pod, node);
  bind_ended(pod, node, refused(next.result));
}

void scheduler_actor::write_for(const pod_info_ptr& pod, std::uint64_t attempt,
                                persistence::transaction transaction) {
  const auto key = transaction.mutations.front().key;
  view_.volumes().promise(key);
  transaction.cause = {.request = current_cause().request,
                       .trigger = current_cause().revision,
                       .author = "scheduler/" + profile_of(*pod).scheduler_name()};
  request<commit_done>(
      core_.writer, commit{std::make_shared<persistence::transaction>(std::move(transaction))},
      defaults::bind_timeout, [this, pod_key = pod->key, attempt, key](const auto& answered) {
        view_.volumes().withdraw_promise(key);
        const bool done = answered && (*answered)->result;
        if (done)
          for (const auto& object : (*answered)->result->objects)
            view_.volumes().update(object);
        const auto found = preparing_.find(pod_key);
        if (found == preparing_.end() || found->second.attempt != attempt) return;
        if (!done) {
          const auto failed = std::move(preparing_.extract(found).mapped());
          return bind_ended(failed.pod, failed.node,
                            api::fail(api::internal("a volume has changed meanwhile")));
        }
        --found->second.writes;
        continue_preparing(pod_key);
      });
}

void scheduler_actor::send_bind(const pod_info_ptr& pod, const std::string& node) {
  try {
    if (bind_by_plugin(pod, node)) return;
  } catch (...) {
    --binding_;
    view_.forget(pod->key);
    unreserve(pod, node);
    throw;
  }
  request<command_done>(
      core_.writer,
      bind{.pod_key = pod->key,
           .pod_uid = pod->pod->meta().uid(),
           .node = node,
           .cause = {.author = "scheduler/" + profile_of(*pod).scheduler_name()}},
      defaults::bind_timeout, [this, pod, node](const auto& answered) {
        bind_ended(pod, node,
                   answered ? (*answered)->result
                            : api::fail(api::internal(runtime::to_string(answered.error()))));
      });
}

// Returns true if a plugin handles the bind.
bool scheduler_actor::bind_by_plugin(const pod_info_ptr& pod, const std::string& node) {
  for (auto* each : profile_of(*pod).plugins->binders()) {
    const auto id = ++last_plugin_bind_;
    const auto result = each->bind(pod, node, [to = self(), id](auto result) {
      to.tell(plugin_bound{id, std::move(result)});
    });
    if (result.code == status_code::skip) continue;
    if (!result.ok()) {
      bind_ended(pod, node, api::fail(api::internal(result.reason)));
      return true;
    }
    auto timer = after(defaults::bind_timeout, [this, id] {
      on_plugin_bound({id, api::fail(api::internal("the plugin that binds it did not answer"))});
    });
    plugin_binds_[id] = {pod, node, std::move(timer)};
    return true;
  }
  return false;
}

void scheduler_actor::on_plugin_bound(const plugin_bound& m) {
  const auto found = plugin_binds_.extract(m.id);
  if (found.empty()) return;
  const auto& [pod, node, limit] = found.mapped();
  const bool right =
      !m.result || (*m.result && (*m.result)->meta().uid() == pod->pod->meta().uid());
  bind_ended(pod, node,
             right ? m.result : api::fail(api::internal("the plugin bound another pod")));
}

void scheduler_actor::bind_ended(const pod_info_ptr& pod, const std::string& node,
                                 const api::expected<api::object_ptr>& result) {
  --binding_;
  if (result) {
    bound(*result, node);
  } else {
    bind_failed(pod, node, result.error());
  }
  wake();
}

// The event arrives by the watcher; until then the pod's actor may still request a node.
void scheduler_actor::bound(const api::object_ptr& object, const std::string& node) {
  ++bound_;
  metrics_of_scheduler().scheduled.fetch_add(1, std::memory_order_relaxed);
  const auto pod = read_pod_info(object);
  log().debug("scheduler: {} is bound to {} at revision {}", pod->key, node, object->revision());
  if (view_.confirm(pod, node)) {
    queue_.remove(pod->key);
    happened(pod_bound);
  }
  const auto& meta = object->meta();
  record(pod, false, "Scheduled",
         fmt::format("Successfully assigned {}/{} to {}", meta.namespace_(), meta.name(), node));
}

// The Error handler: the pod is retried after its back-off, unless the bind was of an outdated
// state: then the newer state is here or on its way.
void scheduler_actor::bind_failed(const pod_info_ptr& pod, const std::string& node,
                                  const api::error& error) {
  ++failed_;
  metrics_of_scheduler().failed.fetch_add(1, std::memory_order_relaxed);
  unreserve(pod, node);
  log().info("scheduler: {} at revision {} was not bound to {}: {}", pod->key, pod->pod->revision(),
             node, error.message);
  if (!view_.assumed(*pod)) return;
  view_.forget(pod->key);
  happened(pod_deleted);  // its resources are free for others
  if (is_outdated(error)) return queue_.remove(pod->key);
  queue_.refused(pod, 0, now());
  record(pod, true, "FailedScheduling", fmt::format("binding rejected: {}", error.message));
}

}  // namespace troupe::actors::scheduler
