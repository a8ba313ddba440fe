// The part of a pod's worker that starts, restarts and ends its containers.
#include <fmt/format.h>

#include <algorithm>

#include "actors/kubelet/defaults.hpp"
#include "actors/kubelet/pods/container_events.hpp"
#include "actors/kubelet/pods/container_order.hpp"
#include "actors/kubelet/workers/pod_worker.hpp"
#include "api/schema/meta_object.pb.h"
#include "api/schema/node_v1.pb.h"

namespace troupe::actors {

void pod_worker::adopt(const found_container& found) {
  auto* record = find_record(found.name);
  if (record == nullptr) record = &containers_.emplace_back(container_record{.name = found.name});
  record->attempt = found.attempt;
  record->last = found.before;
  record->last_id = found.before_id;
  // Created but not started before this worker was restarted: it is created again.
  if (!found.started) return containers().remove_container(found.id);
  record->id = found.id;
  record->sandbox = found.sandbox;
  record->image = found.image;
  record->image_ref = found.image_ref;
  record->phase = container_phase::starting;
  record->adopted = true;
  // The results of its probes survive a restart of the node. Without a probe the container is ready
  // and started: the status was false only while a postStart hook ran, which ended with its
  // requester.
  if (object_)
    for (const auto* all :
         {&pod().status().container_statuses(), &pod().status().init_container_statuses()})
      for (const auto& status : *all)
        if (status.container_id() == record->id) {
          record->started |= status.started();
          record->ready |= status.ready();
        }
  if (object_) {
    auto in_force = recorded_resources(pod());
    if (auto own = in_force.extract(found.name)) record->resources = std::move(own.mapped());
  }
  containers().follow_container(found.id, observer(*record));
}

void pod_worker::run_containers() {
  if (is_outcome_decided(pod(), containers_)) return end_containers(own_grace());
  if (finished(pod().status())) return;
  leave_former_sandbox();
  const auto sandbox = sandbox_ ? sandbox_->id : std::string{};
  resize_containers();
  bool may_start = true;
  for (auto& record : containers_) {
    check_image(record);
    if (may_start && record.phase == container_phase::exited &&
        (restarts(pod(), record) || needs_rerun(pod(), record, containers_, sandbox)))
      await_restart(record);
    if (may_start && record.phase == container_phase::waiting && record.retry_at <= now())
      start(record);
    if (record.phase == container_phase::running) execute(record, record.stop.check(now()));
    if (!may_start_next(record, containers_, sandbox)) may_start = false;
  }
}

// A changed image means a new container: the running one is stopped, and its end causes no back-off
// (kubernetes: containerChanged, GetStableKey).
void pod_worker::check_image(container_record& record) {
  if (record.role == container_role::ephemeral) return;
  const auto spec = spec_of(record);
  if (spec == nullptr || record.image.empty() || record.image == spec->image()) return;
  record.backoff = {};
  record.retry_at = {};
  if (record.role == container_role::init || record.phase != container_phase::running) return;
  record.changed = true;
  fail_container(record, own_grace(),
                 fmt::format("Container {} definition changed, will be restarted", record.name));
}

void pod_worker::await_restart(container_record& record) {
  record.phase = container_phase::waiting;
  record.adopted = record.restart_wanted = record.changed = false;
  ++record.attempt;
  record.last_id = std::exchange(record.id, {});
  reset_health(record);
  if (record.retry_at <= now()) return;
  record.waiting_reason = "CrashLoopBackOff";
  const auto pod_text =
      fmt::format("{}_{}({})", pod().metadata().name(), pod().metadata().namespace_(), uid_);
  const auto wait = std::chrono::ceil<std::chrono::seconds>(record.retry_at - now());
  record.waiting_message = fmt::format("back-off {} restarting failed container={} pod={}",
                                       duration_text(wait), record.name, pod_text);
  record_pod_event(
      true, "BackOff",
      fmt::format("Back-off restarting failed container {} in pod {}", record.name, pod_text),
      record.name);
}

void pod_worker::start(container_record& record) {
  const auto container = spec_of(record);
  if (container == nullptr || making_.contains(record.name) || !references_known() ||
      !volumes_ready_ || !sandbox_ready() || group_due())
    return;
  auto target = target_of(record);
  if (!target)
    return refuse(record,
                  {runtime_error::kind::refused, target.error(), "CreateContainerConfigError"});
  record.image = container->image();
  record.resources = container->resources();
  record.sandbox = sandbox_->id;
  const auto placed = placed_pod();
  auto environment = container_environment(
      placed, *container, reference_reader(),
      service_variables(placed, *services_, references_.at(api_key(context_->api)), context_->api));
  if (!environment)
    return refuse(
        record, {runtime_error::kind::refused, environment.error(), "CreateContainerConfigError"});
  container_config config{.pod = allocated_,
                          .spec = container,
                          .attempt = record.attempt,
                          .sandbox = sandbox_->id,
                          .target = std::move(*target),
                          .command = expand_words(container->command(), *environment),
                          .arguments = expand_words(container->args(), *environment),
                          .environment = std::move(*environment)};
  if (auto placing = place_volumes(*container, config); !placing)
    return refuse(record,
                  {runtime_error::kind::refused, placing.error(), "CreateContainerConfigError"});
  making_[record.name] = std::move(config);
  const auto pulling = [to = self(), name = record.name] { to.tell(pulling_event{name}); };
  containers().pull_image({allocated_, container, pull_secrets()}, pulling,
                          [to = self(), requester = lifetime_, name = record.name](auto image) {
                            to.tell(image_event{requester, name, std::move(image)});
                          });
}

// The container whose processes an ephemeral container shares.
tl::expected<std::string, std::string> pod_worker::target_of(const container_record& record) const {
  if (record.role != container_role::ephemeral) return {};
  if (!containers().features().ephemeral_containers)
    return tl::make_unexpected(
        fmt::format("the {} runtime runs no ephemeral containers", containers().features().name));
  for (const auto& each : pod().spec().ephemeral_containers()) {
    const auto& name = each.target_container_name();
    if (each.ephemeral_container_common().name() != record.name || name.empty()) continue;
    const auto target = std::find_if(containers_.begin(), containers_.end(),
                                     [&](const auto& other) { return other.name == name; });
    if (target == containers_.end() || target->id.empty())
      return tl::make_unexpected("unable to find target container " + name);
    return target->id;
  }
  return {};
}

void pod_worker::on_pulling_event(const pulling_event& m) {
  if (const auto* record = find_record(m.container))
    record_pod_event(false, "Pulling", pulling_text(record->image), m.container);
}

void pod_worker::on_image_event(const image_event& m) {
  if (m.requester != lifetime_) return;
  const auto made = making_.find(m.container);
  auto* record = find_record(m.container);
  if (made == making_.end() || record == nullptr) return;
  if (m.image && !m.image->ref.empty())
    record_pod_event(false, "Pulled", pulled_text(record->image, *m.image), m.container);
  if (starts_nothing() || !m.image) {
    making_.erase(made);
    if (!m.image) refuse(*record, m.image.error());
    return sync();
  }
  made->second.image_ref = record->image_ref = m.image->ref;
  containers().create_container(made->second,
                                [to = self(), requester = lifetime_, name = m.container](auto id) {
                                  to.tell(created_event{requester, name, std::move(id)});
                                });
}

// A container that a crashed worker created was never started, and the survey may have missed it.
void pod_worker::on_created_event(const created_event& m) {
  if (m.requester != lifetime_) {
    if (m.id) containers().remove_container(*m.id);
    return;
  }
  auto* record = find_record(m.container);
  if (making_.erase(m.container) == 0 || record == nullptr) return;
  if (!m.id && m.id.error().code == runtime_error::kind::refused) {
    refuse(*record, m.id.error());
  } else if (m.id && !starts_nothing()) {
    record->id = *m.id;
    record->waiting_reason.clear();
    record->waiting_message.clear();
    record->phase = container_phase::starting;
    record_pod_event(false, "Created", "Created container: " + record->name, record->name);
    containers().start_container(*m.id, observer(*record));
  } else if (!m.id) {
    const auto at_ms = std::chrono::floor<std::chrono::milliseconds>(wall_now()).time_since_epoch();
    on_exit(*record, {.code = 128,
                      .started_ms = at_ms.count(),
                      .finished_ms = at_ms.count(),
                      .error = m.id.error().message});
  }
  sync();
}

void pod_worker::refuse(container_record& record, const runtime_error& error) {
  auto& recorded_at = refusals_recorded_[record.name];
  if (record.waiting_reason != error.reason || recorded_at + context_->event_repetition <= now()) {
    recorded_at = now();
    for (auto& each : events_of_refusal(error.reason, error.message, record.image))
      record_pod_event(each.warning, each.reason, std::move(each.message), record.name);
  }
  record.waiting_reason = error.reason;
  record.waiting_message = error.message;
  record.retry_at = now() + kubelet_defaults::restart_first;
}

// -- the sandbox ----------------------------------------------------------------------------------

// A sandbox is requested when a container must start in it.
bool pod_worker::sandbox_ready() {
  if (sandbox_) return guarded();
  if (sandbox_asked_ || sandbox_retry_at_ > now() || !all_ended() || waits_for_network())
    return false;
  sandbox_asked_ = true;
  if (std::any_of(containers_.begin(), containers_.end(),
                  [](const auto& record) { return !record.sandbox.empty(); }))
    record_pod_event(false, "SandboxChanged",
                     "Pod sandbox changed, it will be killed and re-created.");
  group_ = allocation_->resources;
  const auto handler = runtime_handler();
  if (handler)
    containers().run_sandbox({allocated_, *handler}, observe_sandbox({}));
  else
    tell(self(), sandbox_event{
                     lifetime_, {}, sandbox_lost{{runtime_error::kind::failed, handler.error()}}});
  return false;
}

// kubernetes: kubelet.go, SyncPod.
bool pod_worker::waits_for_network() {
  if (pod().spec().host_network()) return false;
  const auto problem = containers().network_problem();
  if (problem.empty()) return false;
  sandbox_retry_at_ = now() + kubelet_defaults::recheck_delay;
  if (!network_recorded_at_ || *network_recorded_at_ + context_->event_repetition <= now()) {
    network_recorded_at_ = now();
    record_pod_event(true, "NetworkNotReady", "network is not ready: " + problem);
  }
  return true;
}

// kubernetes: runtimeclass_manager.go, LookupRuntimeHandler.
tl::expected<std::string, std::string> pod_worker::runtime_handler() const {
  const auto key = runtime_class_key(pod());
  if (key.empty()) return {};
  const auto found = references_.find(key);
  if (found == references_.end() || !found->second)
    return tl::make_unexpected(fmt::format("runtimeclasses.node.k8s.io \"{}\" not found",
                                           pod().spec().runtime_class_name()));
  return found->second->as<api::node::v1::RuntimeClass>().handler();
}

sandbox_observer pod_worker::observe_sandbox(const std::string& id) {
  return [to = self(), requester = lifetime_, id](const sandbox_change& change) {
    to.tell(sandbox_event{requester, id, change});
  };
}

void pod_worker::use_sandbox(const sandbox_status& ready) {
  sandbox_ = ready;
  sandbox_asked_ = false;
  addresses_.pod_ips =
      ready.ips.empty() ? context_->addresses.pod_ips : pod_ips_of(ready.ips, addresses_.host_ip);
  // Also for running containers: after a restart the guard learns the address here.
  if (object_ && !terminating()) guarded();
}

// The answer is lost if the actor that was asked crashes: the request is then repeated.
bool pod_worker::guarded() {
  if (!context_->guard || sandbox_->ips.empty() || pod().spec().host_network() ||
      guarded_sandbox_ == sandbox_->id)
    return true;
  if (guard_ask_at_ > now()) return false;
  guard_ask_at_ = now() + kubelet_defaults::guard_limit;
  context_->guard(object_, sandbox_->ips, [to = self(), id = sandbox_->id](std::string problem) {
    to.tell(guard_event{id, std::move(problem)});
  });
  return false;
}

void pod_worker::on_guard_event(const guard_event& m) {
  if (!sandbox_ || sandbox_->id != m.sandbox) return;
  if (m.problem.empty()) {
    guarded_sandbox_ = m.sandbox;
    guard_ask_at_ = {};
  } else {
    guard_ask_at_ = now() + kubelet_defaults::restart_first;
    if (!terminating())
      record_pod_event(true, "NetworkNotReady", "Network rules are not in force: " + m.problem);
  }
  sync();
}

// Containers of a lost sandbox are killed and restarted in the next one, which is created when all
// have ended (kubernetes: kuberuntime_manager.go, computePodActions).
void pod_worker::leave_former_sandbox() {
  for (auto& record : containers_)
    if (record.phase == container_phase::running &&
        (!sandbox_ || (!record.sandbox.empty() && record.sandbox != sandbox_->id)))
      fail_container(record, {}, "Stopping container " + record.name);
}

void pod_worker::on_sandbox_event(const sandbox_event& m) {
  if (m.requester != lifetime_) return;
  if (const auto* ready = std::get_if<sandbox_status>(&m.change)) {
    use_sandbox(*ready);
    return sync();
  }
  if (!m.id.empty() && (!sandbox_ || sandbox_->id != m.id)) return;
  const bool was_ready = sandbox_.has_value();
  sandbox_.reset();
  sandbox_asked_ = false;
  sandbox_retry_at_ = was_ready ? runtime::time_point{} : now() + kubelet_defaults::restart_first;
  guard_ask_at_ = {};
  if (!was_ready)
    record_pod_event(
        true, "FailedCreatePodSandBox",
        "Failed to create pod sandbox: " + std::get<sandbox_lost>(m.change).error.message);
  sync();
}

void pod_worker::on_exit(container_record& record, const container_exit& exit) {
  record.phase = container_phase::exited;
  record.last = exit;
  record.stop = {};
  record.preparing = false;
  end_prober(record);
  if (!exit.error.empty()) record_pod_event(true, "Failed", "Error: " + exit.error, record.name);
  if (terminating() || failure_ || !restarts(pod(), record)) return;
  plan_restart(record, std::chrono::milliseconds{exit.finished_ms - exit.started_ms}, now());
}

// -- the end --------------------------------------------------------------------------------------

// Counted from here, not until the deletionTimestamp: the clock of this machine may differ, or it
// was off (kubernetes: pod_workers.go, calculateEffectiveGracePeriod).
runtime::duration pod_worker::deletion_grace() const {
  if (gone_ || !object_) return {};
  return grace_of(object_->meta().deletion_grace_period_seconds());
}

runtime::duration pod_worker::own_grace() const {
  return grace_of(pod().spec().termination_grace_period_seconds());
}

void pod_worker::end_containers(runtime::duration grace) {
  for (auto& record : containers_) {
    if (record.phase != container_phase::running) continue;
    const bool turn = has_turn_to_end(record, containers_);
    if (!turn && !record.stop.begun()) record.stop.hold();
    end_container(record, grace, "Stopping container " + record.name);
    if (turn && record.stop.held()) execute(record, record.stop.release(now()));
  }
}

void pod_worker::end_container(container_record& record, runtime::duration grace,
                               const std::string& message) {
  if (!record.stop.begun() && !gone_) record_pod_event(false, "Killing", message, record.name);
  execute(record, record.stop.begin(now(), grace, has_stop_hook(record)));
}

void pod_worker::execute(container_record& record, stop_step step) {
  if (step == stop_step::run_hook)
    run_hook(record, spec_of(record)->lifecycle().pre_stop(), false,
             record.stop.deadline() - now());
  if (step == stop_step::terminate || step == stop_step::kill)
    containers().stop_container(
        record.id,
        step == stop_step::kill ? runtime::duration{}
                                : std::max<runtime::duration>(record.stop.deadline() - now(),
                                                              std::chrono::milliseconds{1}),
        [to = self(), name = record.name, id = record.id](std::string problem) {
          to.tell(kill_failed{name, id, std::move(problem)});
        });
}

}  // namespace troupe::actors
