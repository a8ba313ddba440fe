#include "actors/kubelet/node/node_agent.hpp"

#include <google/protobuf/util/message_differencer.h>

#include <utility>

#include "actors/controllers/kit/claims.hpp"
#include "actors/core/condition.hpp"
#include "actors/core/log.hpp"
#include "actors/defaults.hpp"
#include "actors/kubelet/defaults.hpp"
#include "api/schema/coordination_v1.pb.h"
#include "api/schema/core_node.pb.h"
#include "api/scheme.hpp"
#include "api/values/uid.hpp"

namespace troupe::actors {

using api::coordination::v1::Lease;
using api::core::v1::Node;

node_agent::node_agent(std::string node, core_actors to, node_timing timing)
    : informer{to.watcher}, node_{std::move(node)}, timing_{timing}, to_{std::move(to)} {}

void node_agent::follow_node() {
  follow(api::kind_of<Node>().key({}, node_), [this](const watch_events& m) { on_node(m); });
  follow(api::kind_of<Lease>().key(defaults::node_lease_namespace, node_),
         [this](const watch_events& m) { on_lease(m); });
  start_with_jitter(renewal_, timing_.lease_renewal, [this] { renew_lease(); });
  start_with_jitter(report_, timing_.report_period, [this] { refresh_node(true); });
}

void node_agent::start_with_jitter(runtime::timer& timer, runtime::duration period,
                                   std::function<void()> work) {
  const auto offset = random()() % static_cast<std::uint64_t>(period.count());
  timer = after(runtime::duration{static_cast<runtime::duration::rep>(offset)},
                [this, &timer, period, work = std::move(work)]() mutable {
                  work();
                  timer = every(period, std::move(work));
                });
}

void node_agent::on_node(const watch_events& m) {
  for (const auto& event : m.events)
    node_object_ = event.type == event_type::deleted ? nullptr : event.object;
  if (!m.synced) return;
  node_known_ = true;
  // The Node was considered silent: renew the Lease first, else its status is not trusted.
  if (node_object_ && (!lease_ || !shown_ready())) renew_lease();
  refresh_node();
  node_changed();
}

bool node_agent::shown_ready() const {
  if (!node_object_) return false;
  const auto* ready = find_condition(node_object_->as<Node>().status().conditions(), "Ready");
  return ready != nullptr && ready->status() == "True";
}

void node_agent::refresh_node(bool report) {
  if (!node_known_ || is_silent()) return;
  auto node = node_object_ ? node_object_->copy_as<Node>() : std::make_unique<Node>();
  if (!node_object_) {
    auto& meta = *node->mutable_metadata();
    meta.set_name(node_);
    meta.set_uid(api::generated_uid(random()));
    meta.mutable_creation_timestamp()->set_seconds(seconds_of(wall_now()));
  }
  describe_node(*node);
  // Capacity added by others is allocatable too (kubernetes: node_status, MachineInfo).
  auto& status = *node->mutable_status();
  reserve(reserved(), status);
  if (!report && node_object_ &&
      google::protobuf::util::MessageDifferencer::Equals(*node, node_object_->as<Node>()))
    return;
  for (const auto* type : posted_conditions)
    if (auto* posted = find_condition(*status.mutable_conditions(), type))
      posted->mutable_last_heartbeat_time()->set_seconds(seconds_of(wall_now()));
  write(api::kind_of<Node>(), node_object_, std::move(node));
}

void node_agent::node_returns() {
  renew_lease();
  refresh_node(true);
}

void node_agent::on_lease(const watch_events& m) {
  for (const auto& event : m.events)
    lease_ = event.type == event_type::deleted ? nullptr : event.object;
  if (!m.synced) return;
  const bool first = !std::exchange(lease_known_, true);
  if (std::exchange(lease_missed_, false) || first) renew_lease();
}

void node_agent::renew_lease() {
  // A new Lease is owned by the Node, and deleted with it.
  if (!lease_known_ || (!lease_ && !node_object_) || is_silent()) return;
  auto lease = lease_ ? lease_->copy_as<Lease>() : std::make_unique<Lease>();
  auto& meta = *lease->mutable_metadata();
  if (!lease_) {
    meta.set_name(node_);
    meta.set_namespace_(defaults::node_lease_namespace);
    add_owner_reference(*node_object_, meta);
    meta.set_uid(api::generated_uid(random()));
    meta.mutable_creation_timestamp()->set_seconds(seconds_of(wall_now()));
  }
  auto& spec = *lease->mutable_spec();
  spec.set_holder_identity(node_);
  spec.set_lease_duration_seconds(static_cast<std::int32_t>(
      std::chrono::ceil<std::chrono::seconds>(timing_.lease_duration).count()));
  const auto micros =
      std::chrono::duration_cast<std::chrono::microseconds>(wall_now().time_since_epoch()).count();
  spec.mutable_renew_time()->set_seconds(micros / 1'000'000);
  spec.mutable_renew_time()->set_nanos(static_cast<std::int32_t>(micros % 1'000'000 * 1'000));
  write(api::kind_of<Lease>(), lease_, std::move(lease));
}

void node_agent::write(const api::kind_info& kind, const api::object_ptr& before,
                       std::unique_ptr<api::body> content) {
  const auto& meta = api::meta_of(*content);
  auto key = kind.key(kind.namespaced() ? meta.namespace_() : std::string{}, meta.name());
  persistence::transaction transaction;
  transaction.preconditions.push_back({key, before ? before->revision() : 0});
  transaction.mutations.push_back({std::move(key), &kind, std::move(content)});
  transaction.cause.trigger = before ? before->revision() : 0;
  commit_as_node(std::move(transaction), kind, before);
}

void node_agent::remove(const api::object_ptr& object) {
  const auto& meta = object->meta();
  auto key = object->kind().key(meta.namespace_(), meta.name());
  persistence::transaction transaction;
  transaction.preconditions.push_back({key, object->revision()});
  transaction.mutations.push_back({std::move(key), &object->kind(), nullptr});
  transaction.cause.trigger = object->revision();
  commit_as_node(std::move(transaction), object->kind(), object);
}

void node_agent::commit_as_node(persistence::transaction transaction, const api::kind_info& kind,
                                const api::object_ptr& before) {
  transaction.cause.request = current_cause().request;
  transaction.cause.author = "kubelet/" + node_;
  request<commit_done>(
      to_.writer, commit{std::make_shared<persistence::transaction>(std::move(transaction))},
      kubelet_defaults::write_timeout, [this, &kind, before](auto reply) {
        using persistence::errc;
        if (reply && (*reply)->result) return;
        const auto code = reply ? (*reply)->result.error().code : errc::io;
        log().debug("kubelet: writing the {} of node {} failed: {}", kind.kind(), node_,
                    reply ? (*reply)->result.error().message : "no answer");
        if (code == errc::conflict && &kind == &api::kind_of<Lease>())
          lease_is_newer(before);
        else if (code != errc::invalid &&
                 (code != errc::conflict || &kind == &api::kind_of<api::core::v1::Pod>()))
          write_failed(kind, before);
      });
}

// Probably a renewal whose answer was lost did succeed: renew over it.
void node_agent::lease_is_newer(const api::object_ptr& than) {
  lease_missed_ = lease_ == than;
  if (!lease_missed_) renew_lease();
}

// The retry computes the content of the Node or Lease again.
void node_agent::write_failed(const api::kind_info& kind, const api::object_ptr&) {
  if (&kind == &api::kind_of<Node>())
    node_again_ = after(kubelet_defaults::status_retry, [this] { refresh_node(); });
  if (&kind == &api::kind_of<Lease>())
    lease_again_ = after(kubelet_defaults::status_retry, [this] { renew_lease(); });
}

}  // namespace troupe::actors
