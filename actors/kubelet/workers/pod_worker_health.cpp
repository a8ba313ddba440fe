// The part of a pod's worker that runs probes and hooks and acts on their results.
#include <fmt/format.h>

#include "actors/kubelet/defaults.hpp"
#include "actors/kubelet/workers/pod_worker.hpp"

namespace troupe::actors {

using api::core::v1::LifecycleHandler;
using api::core::v1::Probe;

namespace {

constexpr const char* prober_kind = "prober";

std::string prober_name(const std::string& worker, const container_record& record) {
  return fmt::format("{}/{}/{}", worker, record.name, record.attempt);
}

bool counts(bool has, const Probe& probe) {
  return has && supported(probe);
}

}  // namespace

// The state before the first results of its probes.
void pod_worker::reset_health(container_record& record) const {
  const auto spec = spec_of(record);
  if (spec == nullptr || !record.has_lifecycle()) return;
  record.ready = !counts(spec->has_readiness_probe(), spec->readiness_probe());
  record.started = !counts(spec->has_startup_probe(), spec->startup_probe());
}

void pod_worker::on_running(container_record& record) {
  const auto spec = spec_of(record);
  if (!record.adopted) {
    record_pod_event(false, "Started", "Started container " + record.name, record.name);
    if (spec != nullptr && record.has_lifecycle() && spec->lifecycle().has_post_start()) {
      record.preparing = true;
      run_hook(record, spec->lifecycle().post_start(), true, kubelet_defaults::longest_hook);
    }
  }
  if (spec == nullptr || !record.has_lifecycle() || terminating()) return;
  if (!counts(spec->has_startup_probe(), spec->startup_probe()) &&
      !counts(spec->has_liveness_probe(), spec->liveness_probe()) &&
      !counts(spec->has_readiness_probe(), spec->readiness_probe()))
    return;
  prober_setup setup{
      .pod = object_,
      .container = record.name,
      .attempt = record.attempt,
      .id = record.id,
      .since_ms = record.run.since_ms,
      .memory = std::make_shared<probe_memory>(probe_memory{
          .started = record.adopted && record.started, .ready = record.adopted && record.ready}),
      .pod_ip = addresses_.pod_ip(),
      .node = context_->node,
      .run_check = [probes = context_->helpers.probes](
                       const auto& id, const auto& check, auto timeout,
                       auto done) { probes->run(id, check, timeout, std::move(done)); },
      .worker = self(),
      .recorder = context_->to.recorder};
  // A prober that outlived a crash of this worker sends its results again.
  const auto prober_ref = spawn({.kind = prober_kind, .name = prober_name(name(), record)},
                                runtime::make<prober>(std::move(setup)));
  tell(prober_ref, repeat_results{});
}

void pod_worker::end_prober(const container_record& record) {
  hook_timers_.erase(record.name);
  if (const auto prober_ref = child(prober_kind, prober_name(name(), record)))
    stop_child(prober_ref);
}

void pod_worker::on_probe_event(const probe_event& m) {
  auto* record = find_record(m.container);
  if (record == nullptr || record->attempt != m.attempt) return stop_child(sender());
  const auto spec = spec_of(*record);
  if (spec == nullptr || record->phase != container_phase::running) return;
  if (m.kind == probe_kind::readiness) record->ready = m.result == probe_result::success;
  if (m.kind == probe_kind::startup && m.result == probe_result::success) record->started = true;
  if (m.kind != probe_kind::readiness && m.result == probe_result::failure) {
    const bool startup = m.kind == probe_kind::startup;
    const auto& probe = startup ? spec->startup_probe() : spec->liveness_probe();
    fail_container(*record,
                   probe.has_termination_grace_period_seconds()
                       ? grace_of(probe.termination_grace_period_seconds())
                       : own_grace(),
                   fmt::format("Container {} failed {} probe, will be restarted", record->name,
                               startup ? "startup" : "liveness"));
  }
  sync();
}

// Ends an unhealthy container; its restart policy then applies.
void pod_worker::fail_container(container_record& record, runtime::duration grace,
                                const std::string& message) {
  if (terminating() || failure_ || record.stop.begun()) return;
  record.restart_wanted = true;
  end_container(record, grace, message);
}

// -- hooks ----------------------------------------------------------------------------------------

bool pod_worker::has_stop_hook(const container_record& record) const {
  const auto spec = spec_of(record);
  return spec != nullptr && record.has_lifecycle() && spec->lifecycle().has_pre_stop() && !gone_;
}

void pod_worker::run_hook(const container_record& record, const LifecycleHandler& hook,
                          bool at_start, runtime::duration timeout) {
  const auto done = [to = self(), container = record.name, attempt = record.attempt,
                     at_start](health_result result) {
    to.tell(hook_event{container, attempt, at_start, std::move(result)});
  };
  const health_result well{check_status::success, {}};
  if (hook.has_sleep()) {
    const auto wanted = std::chrono::seconds{hook.sleep().seconds()};
    hook_timers_[record.name] =
        after(std::min<runtime::duration>(wanted, timeout), [done, well] { done(well); });
    return;
  }
  // kubernetes: tcpSocket in hooks exists for old objects and does nothing.
  if (!hook.has_exec() && !hook.has_http_get()) return done(well);
  const auto check = health_check_of(hook, *spec_of(record), addresses_.pod_ip());
  if (!check) return done({check_status::failure, check.error()});
  context_->helpers.hooks->run(record.id, *check, timeout, done);
}

void pod_worker::on_hook_event(const hook_event& m) {
  auto* record = find_record(m.container);
  if (record == nullptr || record->attempt != m.attempt ||
      record->phase != container_phase::running)
    return;
  const bool well = m.result.status == check_status::success;
  // kubernetes: kuberuntime_container.go: the output of a hook may be secret.
  if (m.at_start) {
    record->preparing = false;
    if (!well) {
      record_pod_event(true, "FailedPostStartHook", "PostStartHook failed", m.container);
      fail_container(*record, own_grace(), "FailedPostStartHook");
    }
  } else {
    if (!well) record_pod_event(true, "FailedPreStopHook", "PreStopHook failed", m.container);
    execute(*record, record->stop.hook_done(now()));
  }
  sync();
}

// -- unsupported fields ---------------------------------------------------------------------------

void pod_worker::report_unsupported() {
  const auto all = containers().unsupported_fields(pod());
  if (all.empty()) return;
  record_pod_event(true, "NotSupported",
                   fmt::format("the {} runtime does not honour {}", containers().features().name,
                               fmt::join(all, ", ")));
}

}  // namespace troupe::actors
