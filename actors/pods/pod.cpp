#include "actors/pods/pod.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <utility>

#include "actors/core/condition.hpp"
#include "actors/core/log.hpp"
#include "actors/defaults.hpp"
#include "actors/nodes/taints.hpp"
#include "actors/write/commands.hpp"
#include "api/schema/core_node.pb.h"
#include "api/schema/core_pod.pb.h"
#include "api/scheme.hpp"

namespace troupe::actors {

using api::core::v1::Node;
using api::core::v1::Pod;

const runtime::behavior& pod::make_behavior() const {
  static const auto table = runtime::handlers(&pod::on_owner_event, &pod::on_dependent_event);
  return table;
}

void pod::started() {
  pod_ = context_->store->read().find(key());
  reconcile();
}

std::string pod::describe() const {
  if (!pod_) return "gone: true\n";
  const auto& content = pod_->as<Pod>();
  return fmt::format("uid: {}\nrevision: {}\nnode: {}\nphase: {}\nordered: {}\n",
                     content.metadata().uid(), pod_->revision(), content.spec().node_name(),
                     content.status().phase(), ordered_);
}

// -- messages from the supervisor -----------------------------------------------------------------

void pod::on_owner_event(const owner_event& m) {
  if (pod_ && m.object->revision() < pod_->revision()) return;
  // Reconciles even if it has read this state itself: until now its supervisor could not forward
  // the events of the pod's node.
  if (pod_ && m.object->meta().uid() != pod_->meta().uid()) {
    // Another pod of the same name.
    timer_.cancel();
    cause_ = pod_need::nothing;
    asked_for_node_ = ordered_ = false;
  }
  pod_ = m.object;
  reconcile();
}

void pod::on_dependent_event(const dependent_event&) {
  reconcile();
}

// -- reconciling ----------------------------------------------------------------------------------

void pod::reconcile() {
  if (!pod_ || ordered_) return;
  const auto& content = pod_->as<Pod>();
  const auto& node_name = content.spec().node_name();
  const auto node = node_name.empty()
                        ? nullptr
                        : context_->store->read().find(api::kind_of<Node>().key({}, node_name));
  if (node && mark_not_ready(*node)) return;
  const auto next = decide(content, node ? &node->as<Node>() : nullptr);
  if (next.need != pod_need::node && std::exchange(asked_for_node_, false)) {
    tell(context_->scheduler, unschedule{key()});
  }
  switch (next.need) {
    case pod_need::nothing:
      timer_.cancel();
      cause_ = pod_need::nothing;
      break;
    case pod_need::node:
      cause_ = pod_need::nothing;
      request_node();
      break;
    case pod_need::removal:
    case pod_need::eviction:
      end(next, node.get());
      break;
  }
}

// Repeated periodically: the scheduler may have lost its queue in a crash.
void pod::request_node() {
  asked_for_node_ = tell(context_->scheduler, schedule{pod_});
  reconcile_after(asked_for_node_ ? defaults::schedule_again : defaults::try_again);
}

void pod::end(const pod_decision& next, const api::object* node) {
  if (std::exchange(cause_, next.need) != next.need) {
    // Includes the time before this actor started; deadlines use the monotonic clock, so that a
    // jump of the wall clock ends no pod early.
    const auto since = node != nullptr ? tainted_since(node->as<Node>()) : 0;
    const auto due = std::chrono::ceil<std::chrono::seconds>(next.due);
    const auto passed = since == 0 ? 0 : seconds_of(wall_now()) - since;
    cause_since_ = now() - std::chrono::seconds{std::clamp<std::int64_t>(passed, 0, due.count())};
  }
  const auto left = cause_since_ + next.due - now();
  if (left > runtime::duration{0}) {
    reconcile_after(left);
  } else {
    carry_out(next, node);
  }
}

void pod::carry_out(const pod_decision& next, const api::object* node) {
  const auto& meta = pod_->meta();
  if (next.need == pod_need::removal) {
    if (meta.finalizers_size() > 0 && mark_failed(node)) return;
    log().debug("pod {} at revision {} is deleted: no kubelet will do it", key(), pod_->revision());
    return send_command<command_done>(remove{
        .key = key(), .uid = meta.uid(), .grace_seconds = 0, .cause = {.author = "pod/" + name()}});
  }
  log().info("pod {} at revision {} is evicted from node {}, whose taints it does not tolerate",
             key(), pod_->revision(), pod_->as<Pod>().spec().node_name());
  tell(context_->recorder, record_event{.about = pod_,
                                        .reason = "TaintManagerEviction",
                                        .message = "Marking for deletion Pod " + name(),
                                        .component = "taint-eviction-controller"});
  send_command<command_done>(evict{.pod_key = key(),
                                   .pod_uid = meta.uid(),
                                   .reason = "DeletionByTaintManager",
                                   .message = "Taint manager: deleting due to NoExecute taint",
                                   .cause = {.author = "pod/" + name()}});
}

// Returns true if a write was sent; its event triggers the rest.
bool pod::mark_not_ready(const api::object& node) {
  auto marked = marked_not_ready(pod_->as<Pod>(), node.as<Node>(), wall_now());
  if (!marked) return false;
  log().debug("pod {} at revision {} is not ready: its node {} sends no heartbeat", key(),
              pod_->revision(), node.meta().name());
  tell(context_->recorder, record_event{.about = pod_,
                                        .warning = true,
                                        .reason = "NodeNotReady",
                                        .message = "Node is not ready",
                                        .component = "node-controller"});
  replace(std::move(marked));
  return true;
}

// As mark_not_ready.
bool pod::mark_failed(const api::object* node) {
  const auto& content = pod_->as<Pod>();
  auto marked =
      marked_failed(content, node == nullptr && !content.spec().node_name().empty(), wall_now());
  if (!marked) return false;
  log().debug("pod {} at revision {} has failed: no kubelet will terminate it", key(),
              pod_->revision());
  replace(std::move(marked));
  return true;
}

void pod::replace(std::unique_ptr<api::body> changed) {
  auto transaction = std::make_shared<persistence::transaction>(succeed(*pod_, std::move(changed)));
  transaction->cause.author = "pod/" + name();
  send_command<commit_done>(commit{std::move(transaction)});
}

// Success arrives as an event of the pod, which triggers the next step (a command that changes
// nothing because of a finalizer must not be repeated at once).
template <class Reply, class Command>
void pod::send_command(Command command) {
  ordered_ = true;
  request<Reply>(context_->writer, std::move(command), defaults::write_timeout,
                 [this, uid = pod_->meta().uid(), at = pod_->revision()](auto reply) {
                   if (pod_->meta().uid() != uid) return;
                   ordered_ = false;
                   if (pod_->revision() != at) return reconcile();
                   if (!reply || !(*reply)->result) reconcile_after(defaults::try_again);
                 });
}

void pod::reconcile_after(runtime::duration delay) {
  timer_ = after(delay, [this] { reconcile(); });
}

std::string pod::key() const {
  const auto slash = name().find('/');
  return api::kind_of<Pod>().key(name().substr(0, slash), name().substr(slash + 1));
}

}  // namespace troupe::actors
