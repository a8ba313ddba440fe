// The second half of an attempt: the pod is bound to the node that was found for it.
#include <fmt/format.h>

#include "actors/core/log.hpp"
#include "actors/core/metrics.hpp"
#include "actors/scheduler/framework/defaults.hpp"
#include "actors/scheduler/scheduler.hpp"
#include "api/schema/meta_object.pb.h"

namespace troupe::actors::scheduler {

namespace {

// The pod has gone, or is in a state (of commands.cpp, plan_bind) in which nothing can be bound.
bool is_outdated(const api::error& problem) {
  return problem.code == 404 || problem.kind == "pods/binding";
}

}  // namespace

void scheduler_actor::bind_pod(const pod_info_ptr& pod, const std::string& node) {
  view_.assume(pod, node);
  ++binding_;
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

// Whether one of them has taken it on.
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

// The change itself comes by the watcher; until then the pod's actor may still ask for a node.
void scheduler_actor::bound(const api::object_ptr& object, const std::string& node) {
  ++bound_;
  metrics_of_scheduler().scheduled.fetch_add(1, std::memory_order_relaxed);
  const auto pod = read_pod_info(object);
  log().debug("scheduler: {} is bound to {} at revision {}", pod->key, node, object->revision());
  if (view_.confirm(pod, node)) {
    queue_.done(pod->key);
    happened(pod_bound);
  }
  const auto& meta = object->meta();
  record(pod, false, "Scheduled",
         fmt::format("Successfully assigned {}/{} to {}", meta.namespace_(), meta.name(), node));
}

// The Error handler: the pod is tried again after its back-off, unless an outdated state of it was
// to be bound: then the newer state is here or on its way.
void scheduler_actor::bind_failed(const pod_info_ptr& pod, const std::string& node,
                                  const api::error& error) {
  ++failed_;
  metrics_of_scheduler().failed.fetch_add(1, std::memory_order_relaxed);
  unreserve(pod, node);
  log().info("scheduler: {} at revision {} was not bound to {}: {}", pod->key, pod->pod->revision(),
             node, error.message);
  if (!view_.assumed(*pod)) return;
  view_.forget(pod->key);
  happened(pod_deleted);  // its room is free for others
  if (is_outdated(error)) return queue_.remove(pod->key);
  queue_.refused(pod, 0, now());
  record(pod, true, "FailedScheduling", fmt::format("binding rejected: {}", error.message));
}

}  // namespace troupe::actors::scheduler
