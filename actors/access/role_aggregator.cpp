#include "actors/access/role_aggregator.hpp"

#include <spdlog/fmt/fmt.h>

#include <memory>
#include <utility>

#include "actors/access/defaults.hpp"
#include "actors/core/log.hpp"
#include "actors/defaults.hpp"
#include "api/schema/meta_object.pb.h"
#include "api/scheme.hpp"

namespace troupe::actors::access {

using api::rbac::v1::ClusterRole;

namespace {

constexpr const char* author = "clusterrole-aggregation-controller";

}  // namespace

role_aggregator::role_aggregator(core_actors core)
    : informer{core.watcher}, core_{std::move(core)} {}

const runtime::behavior& role_aggregator::make_behavior() const {
  static const auto table =
      runtime::handlers(&role_aggregator::on_watch_events, &role_aggregator::on_watch_ended);
  return table;
}

void role_aggregator::started() {
  follow(api::kind_of<ClusterRole>().prefix(), [this](const watch_events& m) { on_roles(m); });
}

std::string role_aggregator::describe() const {
  std::size_t aggregated = 0;
  for (const auto& [name, object] : roles_)
    aggregated += aggregates(object->as<ClusterRole>()) ? 1 : 0;
  return fmt::format("cluster roles: {}\nof them aggregated: {}\nbeing written: {}\n",
                     roles_.size(), aggregated, under_way_.size());
}

void role_aggregator::on_roles(const watch_events& m) {
  for (const auto& event : m.events) {
    if (!event.object) continue;
    const auto& name = event.object->meta().name();
    if (event.type == event_type::deleted)
      roles_.erase(name);
    else
      roles_[name] = event.object;
  }
  if (m.synced) settle();
}

void role_aggregator::settle() {
  aggregation all{roles_};
  for (const auto& [name, object] : roles_) {
    const auto& role = object->as<ClusterRole>();
    if (!aggregates(role) || role.metadata().has_deletion_timestamp() || under_way_.contains(name))
      continue;
    auto rules = all.rules_of(role);
    if (!same_rules(rules, role.rules())) write(name, object, std::move(rules));
  }
}

void role_aggregator::write(const std::string& name, const api::object_ptr& role, rule_list rules) {
  under_way_.insert(name);
  auto changed = role->copy_as<ClusterRole>();
  *changed->mutable_rules() = std::move(rules);
  auto key = role->kind().key({}, name);
  auto transaction = std::make_shared<persistence::transaction>();
  transaction->preconditions.push_back({key, role->revision()});
  transaction->mutations.push_back({std::move(key), &role->kind(), std::move(changed)});
  transaction->cause.author = author;
  transaction->cause.trigger = role->revision();
  request<commit_done>(
      core_.writer, commit{std::move(transaction)}, actors::defaults::write_timeout,
      [this, name](const tl::expected<const commit_done*, runtime::request_error>& answer) {
        under_way_.erase(name);
        if (answer && (*answer)->result) return written(name, (*answer)->result->at);
        log().info("cluster role {}: writing its aggregated rules failed, retrying", name);
        again_ = after(defaults::aggregation_retry, [this] { settle(); });
      });
}

// The event also arrives by the stream. If it, and perhaps another one, arrived before the answer
// it was skipped, so the role is checked again.
void role_aggregator::written(const std::string& name, revision at) {
  const auto found = roles_.find(name);
  if (found == roles_.end() || found->second->revision() >= at) settle();
}

}  // namespace troupe::actors::access
