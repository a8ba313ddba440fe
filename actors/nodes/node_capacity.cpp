#include "actors/nodes/node_capacity.hpp"

#include <spdlog/fmt/fmt.h>

#include <utility>

#include "api/schema/core_node.pb.h"
#include "api/scheme.hpp"

namespace troupe::actors {

using api::core::v1::Node;

node_capacity::node_capacity(runtime::actor_ref watcher, std::shared_ptr<actors::capacity> capacity)
    : informer{std::move(watcher)}, capacity_{std::move(capacity)} {}

const runtime::behavior& node_capacity::make_behavior() const {
  static const auto table =
      runtime::handlers(&node_capacity::on_watch_events, &node_capacity::on_watch_ended);
  return table;
}

void node_capacity::started() {
  follow(api::kind_of<Node>().prefix(), [this](const watch_events& m) { on_nodes(m); });
}

std::string node_capacity::describe() const {
  return fmt::format("nodes: {}\nnodesTakePods: {}\npodsAtMost: {}\n", takes_pods_.size(), all_,
                     capacity_->pods());
}

void node_capacity::on_nodes(const watch_events& m) {
  for (const auto& event : m.events) {
    if (!event.object) continue;
    const auto& name = event.object->meta().name();
    const bool gone = event.type == event_type::deleted;
    auto& takes = takes_pods_[name];
    const auto now = gone ? 0 : pod_capacity_of(event.object->as<Node>());
    all_ += now - std::exchange(takes, now);
    if (gone) takes_pods_.erase(name);
  }
  if (m.synced) capacity_->set_node_capacity(all_);
}

}  // namespace troupe::actors
