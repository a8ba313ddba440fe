#include "actors/nodes/minion.hpp"

#include <spdlog/fmt/fmt.h>

#include <utility>

#include "actors/core/condition.hpp"
#include "actors/core/log.hpp"
#include "actors/defaults.hpp"
#include "actors/write/commands.hpp"
#include "api/equality.hpp"
#include "api/schema/coordination_v1.pb.h"
#include "api/scheme.hpp"

namespace troupe::actors {

using api::coordination::v1::Lease;
using api::core::v1::Node;

namespace {

// Time of the node's last posted status; 0: never.
std::int64_t heartbeat(const api::object& node) {
  const auto* ready = find_condition(node.as<Node>().status().conditions(), "Ready");
  return ready == nullptr ? 0 : ready->last_heartbeat_time().seconds();
}

}  // namespace

const runtime::behavior& minion::make_behavior() const {
  static const auto table = runtime::handlers(&minion::on_owner_event, &minion::on_dependent_event,
                                              &minion::on_eviction_permission);
  return table;
}

void minion::started() {
  node_ = store_->read().find(api::kind_of<Node>().key({}, name()));
  if (!node_) return;
  // The pods were evicted before this actor started: the permission stays while the taints do.
  may_evict_ = has_eviction_taint(node_->as<Node>());
  on_heartbeat();
  check_silence();
  reconcile();
}

std::string minion::describe() const {
  const auto since = std::chrono::duration<double>(now() - last_heartbeat_).count();
  return fmt::format("silent: {}\nsecondsSinceHeard: {:.1f}\nmayEvict: {}\n", silent_, since,
                     may_evict_);
}

// -- messages from the supervisor -----------------------------------------------------------------

void minion::on_owner_event(const owner_event& m) {
  if (node_ && m.object->revision() <= node_->revision()) return;
  // A node that has posted its first status gets a shorter grace period.
  const bool first = !node_ || readiness_of(node_->as<Node>()) == readiness::missing;
  const bool posted = first || heartbeat(*m.object) != heartbeat(*node_);
  node_ = m.object;
  if (posted) on_heartbeat();
  if (first) check_silence();
  reconcile();
}

void minion::on_dependent_event(const dependent_event& m) {
  if (m.event.type != event_type::deleted) on_heartbeat();
}

void minion::on_eviction_permission(const eviction_permission& m) {
  if (may_evict_ != m.granted)
    log().info("node {} at revision {}: its pods {}", name(), node_ ? node_->revision() : 0,
               m.granted ? "may be evicted" : "are not evicted");
  may_evict_ = m.granted;
  reconcile();
}

// -- heartbeats -----------------------------------------------------------------------------------

void minion::on_heartbeat() {
  last_heartbeat_ = now();
  if (!std::exchange(silent_, false)) return;
  log().info("node {} at revision {} sends heartbeats again", name(), node_->revision());
  check_silence();
}

// Runs once per grace period, not once per heartbeat.
void minion::check_silence() {
  const bool new_here = readiness_of(node_->as<Node>()) == readiness::missing;
  const auto grace = new_here ? grace_ + defaults::node_startup_extra : grace_;
  const auto left = last_heartbeat_ + grace - now();
  if (left > runtime::duration{0}) {
    silence_ = after(left, [this] { check_silence(); });
    return;
  }
  silent_ = true;
  log().info("node {} at revision {} has been silent for {:.0f} s: it is not ready", name(),
             node_->revision(), std::chrono::duration<double>(grace).count());
  reconcile();
}

// -- writes of the Node ---------------------------------------------------------------------------

void minion::reconcile() {
  if (!node_ || writing_) return;
  const auto& node = node_->as<Node>();
  if (readiness_of(node) == readiness::ready && !silent_) may_evict_ = false;
  auto better = corrected(node, {.silent = silent_, .may_evict = may_evict_}, wall_now());
  if (!better) return;
  const bool lost =
      readiness_of(*better) == readiness::unknown && readiness_of(node) != readiness::unknown;
  if (lost) report_not_ready();
  log().debug("node {} at revision {}: its conditions and taints are corrected", name(),
              node_->revision());
  auto transaction = std::make_shared<persistence::transaction>(succeed(*node_, std::move(better)));
  transaction->cause.author = "minion/" + name();
  writing_ = true;
  request<commit_done>(core_.writer, commit{std::move(transaction)}, defaults::write_timeout,
                       [this](auto reply) {
                         writing_ = false;
                         const bool done = reply && (*reply)->result;
                         if (done) return;
                         // After a conflict the newer Node arrives as an event, or has arrived.
                         again_ = after(defaults::try_again, [this] { reconcile(); });
                       });
}

void minion::report_not_ready() {
  tell(core_.recorder, record_event{.about = node_,
                                    .reason = "NodeNotReady",
                                    .message = "Node " + name() + " status is now: NodeNotReady",
                                    .component = "node-controller"});
}

}  // namespace troupe::actors
