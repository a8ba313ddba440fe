#include "actors/kubelet/simulated/simulated_minion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "actors/core/condition.hpp"
#include "actors/kubelet/pods/pod_containers.hpp"
#include "actors/kubelet/pods/pod_env.hpp"
#include "actors/kubelet/simulated/node_behavior.hpp"
#include "actors/kubelet/simulated/pod_behavior.hpp"
#include "actors/kubelet/simulated/simulated_pod.hpp"
#include "api/object/object_key.hpp"
#include "api/schema/core_node.pb.h"
#include "api/scheme.hpp"
#include "api/values/quantity.hpp"

namespace troupe::actors {

namespace {

using api::quantity;
using api::core::v1::Node;
using api::core::v1::Pod;

constexpr std::int64_t disk_bytes = std::int64_t{1} << 40;

}  // namespace

simulated_minion::simulated_minion(simulated_node node, core_actors to)
    : node_agent{node.name, std::move(to), node.timing}, like_{std::move(node)} {}

const runtime::behavior& simulated_minion::make_behavior() const {
  static const runtime::behavior table =
      runtime::handlers(&simulated_minion::on_watch_events, &simulated_minion::on_watch_ended);
  return table;
}

void simulated_minion::started() {
  follow_node();
  follow(api::kind_of<Pod>().prefix(), [this](const watch_events& m) { on_pods(m); },
         {.on_node = node()});
}

std::string simulated_minion::describe() const {
  return fmt::format("node: {}\nstartedPods: {}\nendedPods: {}\n", node(), started_pods_,
                     ended_pods_);
}

// The addresses of all pods of the message are known before one of them starts.
void simulated_minion::on_pods(const watch_events& m) {
  for (const auto& event : m.events)
    if (event.type != event_type::bookmark) keep_address(event);
  const bool first = m.synced && !std::exchange(addresses_known_, true);
  for (const auto& event : m.events) {
    if (event.type == event_type::bookmark) continue;
    current_cause({event.cause.request, event.at});
    const auto key = api::key_of(*event.object);
    not_ready_.erase(key);
    failed_.erase(key);
    written_.erase(key);
    timers_.erase(key);
    if (event.type != event_type::deleted) take_pod(event.object);
  }
  if (first) return try_again();
  node_changed();
}

void simulated_minion::keep_address(const watch_event& event) {
  const auto& pod = event.object->as<Pod>();
  const int last = last_byte_of(pod);
  if (last == 0) return;
  const auto key = api::key_of(*event.object);
  if (event.type == event_type::deleted || finished(pod.status()))
    addresses_.release(key, last);
  else
    addresses_.keep(key, last);
}

void simulated_minion::take_pod(const api::object_ptr& object) {
  if (down_ || !addresses_known_) {
    failed_[api::key_of(*object)] = object;
    return;
  }
  const auto& pod = object->as<Pod>();
  const auto& phase = pod.status().phase();
  if (pod.metadata().has_deletion_timestamp()) return end_pod(object);
  const bool pending = phase.empty() || phase == "Pending";
  if (!pending && phase != "Running") return;
  if (!pending && deadline_exceeded(pod, wall_now()))
    return write_pod(object, as_overdue(pod, wall_now()));
  const auto behavior = behavior_of(pod, like_.policy.get());
  if (behavior && behave(object, *behavior)) return;
  if (pending) {
    if (behavior) return;
    ++started_pods_;
    return write_pod(object, as_running(pod, next_addresses(), wall_now()));
  }
  if (pod.spec().has_active_deadline_seconds())
    wake_at(object, runtime::wall_time{std::chrono::seconds{pod.status().start_time().seconds()}} +
                        grace_of(pod.spec().active_deadline_seconds()));
  const auto* ready = find_condition(pod.status().conditions(), "Ready");
  if (ready != nullptr && ready->status() != "True" && !is_starting(pod))
    not_ready_[api::key_of(*object)] = object;
}

// Applies the step that is due; returns true if there was one.
bool simulated_minion::behave(const api::object_ptr& object, const pod_behavior& behavior) {
  const auto& pod = object->as<Pod>();
  const auto step = next_step(pod, behavior);
  if (!step) return false;
  if (step->at > wall_now()) {
    wake_at(object, step->at);
    return false;
  }
  const bool starts = step->change == pod_step::change::start;
  started_pods_ += starts;
  write_pod(object, after_step(pod, behavior, step->change,
                               starts ? next_addresses() : simulated_addresses{}, wall_now()));
  return true;
}

// Wakes at the earliest of the times requested since the pod's last change.
void simulated_minion::wake_at(const api::object_ptr& object, runtime::wall_time at) {
  auto& due = timers_[api::key_of(*object)];
  if (due.timer.pending() && due.at <= at) return;
  due.at = at;
  due.timer = after(std::max(runtime::duration{0}, runtime::duration{at - wall_now()}),
                    [this, object] { take_pod(object); });
}

simulated_addresses simulated_minion::next_addresses() {
  return {address(0), address(addresses_.next())};
}

// Like a DELETE without grace: a pod with finalizers stays until they are removed, and its status
// shows that it ended. Without finalizers one write is enough.
void simulated_minion::end_pod(const api::object_ptr& object) {
  const auto& meta = object->meta();
  if (meta.finalizers_size() != 0 && !finished(object->as<Pod>().status()))
    return write_pod(object, as_killed(object->as<Pod>(), wall_now()));
  if (meta.finalizers_size() != 0 && meta.deletion_grace_period_seconds() == 0) return;
  ++ended_pods_;
  written_[api::key_of(*object)] = object->revision();
  if (meta.finalizers_size() == 0) return remove(object);
  actors::remove command{.key = api::key_of(*object), .uid = meta.uid(), .grace_seconds = 0};
  command.cause = {.request = current_cause().request,
                   .trigger = object->revision(),
                   .author = "kubelet/" + node()};
  request<command_done>(to().writer, std::move(command), kubelet_defaults::write_timeout,
                        [this, object](const auto& answered) {
                          if (!answered) write_failed(object->kind(), object);
                        });
}

void simulated_minion::follow_state() {
  if (!node_object()) return;
  const auto state = state_of(node_object()->as<Node>(), wall_now(), like_.policy.get());
  state_.cancel();
  if (state.until)
    state_ = after(std::max(runtime::duration{0}, runtime::duration{*state.until - wall_now()}),
                   [this] { follow_state(); });
  if (std::exchange(down_, state.down) == state.down || down_) return;
  node_returns();
  try_again();
}

// The pods that were marked not ready while the node was silent still run.
void simulated_minion::node_changed() {
  follow_state();
  if (down_ || not_ready_.empty() || !shown_ready()) return;
  for (const auto& [key, object] : std::exchange(not_ready_, {})) {
    auto pod = object->copy_as<Pod>();
    set_condition(*pod->mutable_status()->mutable_conditions(), {"Ready", "True"}, wall_now());
    write_pod(object, std::move(pod));
  }
}

void simulated_minion::write_pod(const api::object_ptr& before, std::unique_ptr<api::body> after) {
  written_[api::key_of(*before)] = before->revision();
  write(before->kind(), before, std::move(after));
}

// Also after a conflict, which a newer state need not have caused. A newer one was handled already.
void simulated_minion::write_failed(const api::kind_info& kind, const api::object_ptr& before) {
  if (&kind != &api::kind_of<Pod>()) return node_agent::write_failed(kind, before);
  const auto key = api::key_of(*before);
  const auto written = written_.find(key);
  if (written == written_.end() || written->second != before->revision()) return;
  failed_[key] = before;
  if (!again_.pending()) again_ = after(kubelet_defaults::status_retry, [this] { try_again(); });
}

// A pod that has changed since is no longer in `failed_`, or its new state is about to arrive and
// this write conflicts.
void simulated_minion::try_again() {
  for (const auto& [key, object] : std::exchange(failed_, {}))
    take_pod(object);
  node_changed();
}

void simulated_minion::describe_node(Node& body) const {
  auto& labels = *body.mutable_metadata()->mutable_labels();
  labels["kubernetes.io/hostname"] = as_label(node());
  labels["kubernetes.io/os"] = "linux";
  labels["kubernetes.io/arch"] = "amd64";
  labels["type"] = "simulated";
  auto& status = *body.mutable_status();
  const auto has = [&](const char* resource, std::int64_t units, quantity::notation style) {
    (*status.mutable_capacity())[resource].set_string(quantity::of(units, style).str());
  };
  has("cpu", like_.cpus, quantity::notation::decimal);
  has("memory", like_.memory_bytes, quantity::notation::binary);
  has("pods", like_.pods, quantity::notation::decimal);
  has("ephemeral-storage", disk_bytes, quantity::notation::binary);
  auto& info = *status.mutable_node_info();
  info.set_kubelet_version(like_.version);
  info.set_container_runtime_version("simulated://1");
  info.set_operating_system("linux");
  info.set_architecture("amd64");
  info.set_os_image("Troupe (simulated)");
  info.set_kernel_version("simulated");
  status.clear_addresses();
  for (const auto& [type, value] :
       {std::pair{"InternalIP", address(0)}, std::pair{"Hostname", node()}}) {
    auto& entry = *status.add_addresses();
    entry.set_type(type);
    entry.set_address(value);
  }
  set_condition(*status.mutable_conditions(),
                {"Ready", "True", "KubeletReady", "simulated node is ready"}, wall_now());
}

// 10.128.0.0/9 is divided among the nodes, address_pool::size pod addresses for each.
std::string simulated_minion::address(int last) const {
  return fmt::format("10.{}.{}.{}", 128 + (like_.number >> 8) % 128, like_.number & 0xff,
                     last == 0 ? 255 : last);
}

// 0 if the pod has no address of this node.
int simulated_minion::last_byte_of(const Pod& pod) const {
  const std::string_view all = pod.status().pod_ip();
  const auto dot = all.rfind('.');
  if (dot == all.npos) return 0;
  int last = 0;
  std::from_chars(all.data() + dot + 1, all.data() + all.size(), last);
  return last > 0 && last <= address_pool::size && all == address(last) ? last : 0;
}

}  // namespace troupe::actors
