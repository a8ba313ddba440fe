#include "actors/pods/pods.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <utility>

#include "actors/core/pod_health.hpp"
#include "actors/pods/pod_rules.hpp"
#include "api/equality.hpp"
#include "api/object/object_key.hpp"
#include "api/schema/core_node.pb.h"
#include "api/schema/core_pod.pb.h"
#include "api/scheme.hpp"

namespace troupe::actors {

using api::core::v1::Node;
using api::core::v1::Pod;

namespace {

std::string name_of(const api::object& pod) {
  return pod.meta().namespace_() + "/" + pod.meta().name();
}

bool same_taints(const api::object& a, const api::object& b) {
  static const auto& field = *api::core::v1::NodeSpec::descriptor()->FindFieldByName("taints");
  return api::same_field(a.as<Node>().spec(), b.as<Node>().spec(), field);
}

}  // namespace

pods::pods(runtime::actor_ref watcher, pod_context context, pods_options options)
    : informer{std::move(watcher)},
      context_{std::make_shared<const pod_context>(std::move(context))},
      options_{options} {}

const runtime::behavior& pods::make_behavior() const {
  static const auto table =
      runtime::handlers(&pods::on_watch_events, &pods::on_watch_ended, &pods::on_count_pods);
  return table;
}

void pods::started() {
  follow(api::kind_of<Node>().prefix(), [this](const watch_events& m) {
    on_nodes(m);
    // Follows pods only now: on_nodes misses the deletion of a node before its pods are known, but
    // their actors start later and then see that it is gone.
    if (m.synced && !std::exchange(nodes_known_, true))
      follow(api::kind_of<Pod>().prefix(), [this](const watch_events& pods) { on_pods(pods); });
  });
  round_ = every(defaults::terminated_pods_round, [this] { remove_terminated(); });
}

std::string pods::describe() const {
  return fmt::format("pods: {}\nterminated: {}\nnodes: {}\n", rows_.size(), terminated_,
                     by_node_.size());
}

// -- changes of pods ------------------------------------------------------------------------------

void pods::on_pods(const watch_events& m) {
  for (const auto& event : m.events) {
    if (!event.object) continue;
    current_cause({event.cause.request, event.at});
    seen_ = std::max(seen_, event.at);
    const auto name = name_of(*event.object);
    if (event.type == event_type::deleted) {
      remove_pod(name);
    } else {
      take_pod(name, event);
    }
  }
  if (m.synced && !std::exchange(complete_, true)) {
    // Actors of pods that were deleted while this supervisor was down.
    stop_children_except("pod", [this](const std::string& name) { return rows_.contains(name); });
  }
}

void pods::take_pod(const std::string& name, const watch_event& event) {
  const auto& content = event.object->as<Pod>();
  auto [found, fresh] = rows_.try_emplace(name);
  auto& [key, r] = *found;
  bool predates_restart = false;
  if (fresh) {
    // The actor may have survived a crash of this supervisor; a new one reads its pod itself.
    r.actor = child("pod", name);
    predates_restart = static_cast<bool>(r.actor);
    fresh = !predates_restart;
    if (fresh) r.actor = spawn({.kind = "pod", .name = name}, runtime::make<pod>(context_));
  }
  if (!fresh) {
    tell(r.actor, owner_event{.object = event.object, .at = event.at});
    // Its node may have been deleted while this supervisor was down: it must check.
    if (predates_restart) tell(r.actor, dependent_event{event});
  }
  place(key, r, content.spec().node_name());
  terminated_ -= r.terminated ? 1 : 0;
  r.terminated = is_terminated(content);
  terminated_ += r.terminated ? 1 : 0;
}

void pods::remove_pod(const std::string& name) {
  const auto found = rows_.find(name);
  if (found == rows_.end()) return;
  auto& [key, r] = *found;
  if (r.node.empty()) {
    const auto slash = name.find('/');
    const auto at = api::kind_of<Pod>().key(name.substr(0, slash), name.substr(slash + 1));
    tell(context_->scheduler, unschedule{at});
  }
  stop_child(r.actor);
  place(key, r, {});
  terminated_ -= r.terminated ? 1 : 0;
  rows_.erase(found);
}

void pods::place(const std::string& name, row& r, const std::string& node) {
  if (r.node == node) return;
  if (!r.node.empty()) {
    const auto old = by_node_.find(r.node);
    std::erase(old->second, std::string_view{name});
    if (old->second.empty()) by_node_.erase(old);
  }
  r.node = node;
  if (!node.empty()) by_node_[node].push_back(name);
}

// -- changes of nodes -----------------------------------------------------------------------------

void pods::on_nodes(const watch_events& m) {
  for (const auto& event : m.events) {
    if (!event.object) continue;
    const auto found = by_node_.find(event.object->meta().name());
    if (found == by_node_.end()) continue;
    if (event.type == event_type::modified && event.previous &&
        same_taints(*event.object, *event.previous)) {
      continue;
    }
    current_cause({event.cause.request, event.at});
    for (const auto name : found->second) {
      tell(rows_.find(std::string{name})->second.actor, dependent_event{event});
    }
  }
}

// -- requests of the console --------------------------------------------------------------------

void pods::on_count_pods(const count_pods&, runtime::promise<pod_counts> answer) {
  pod_counts counts{.at = seen_, .pods = rows_.size(), .by_node = {}};
  counts.by_node.reserve(by_node_.size());
  for (const auto& [node, names] : by_node_)
    counts.by_node.emplace_back(node, names.size());
  answer.deliver(std::move(counts));
}

// -- terminated pods ------------------------------------------------------------------------------

void pods::remove_terminated() {
  if (terminated_ <= options_.terminated_kept) return;
  std::vector<api::object_ptr> all;
  const auto state = context_->store->read();
  state.scan(api::kind_of<Pod>().prefix(), {}, [&](std::string_view, const auto& object) {
    if (is_terminated(object->template as<Pod>())) all.push_back(object);
    return true;
  });
  for (const auto& each :
       terminated_to_remove(std::move(all), options_.terminated_kept, options_.removed_in_round)) {
    request<command_done>(context_->writer,
                          remove{.key = api::key_of(*each),
                                 .uid = each->meta().uid(),
                                 .grace_seconds = 0,
                                 .cause = {.author = "supervisor/pods"}},
                          defaults::write_timeout, [](const auto&) {});
  }
}

}  // namespace troupe::actors
