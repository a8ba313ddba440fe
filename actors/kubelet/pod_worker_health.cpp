// Probes and hooks: what a pod's worker does about its containers' health.
#include <fmt/format.h>

#include "actors/kubelet/defaults.hpp"
#include "actors/kubelet/pod_worker.hpp"
#include "actors/kubelet/unsupported.hpp"

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

// Before its probes have spoken.
void pod_worker::expect_health(container_record& record) const {
  const auto* spec = spec_of(record);
  if (spec == nullptr) return;
  record.ready = !counts(spec->has_readiness_probe(), spec->readiness_probe());
  record.started = !counts(spec->has_startup_probe(), spec->startup_probe());
}

void pod_worker::now_runs(container_record& record) {
  const auto* spec = spec_of(record);
  if (!record.adopted) {
    record_pod_event(false, "Started", "Started container " + record.name, record.name);
    if (spec != nullptr && !record.init && spec->lifecycle().has_post_start()) {
      record.preparing = true;
      run_hook(record, spec->lifecycle().post_start(), true, kubelet_defaults::longest_hook);
    }
  }
  if (spec == nullptr || record.init || terminating()) return;
  if (!counts(spec->has_startup_probe(), spec->startup_probe()) &&
      !counts(spec->has_liveness_probe(), spec->liveness_probe()) &&
      !counts(spec->has_readiness_probe(), spec->readiness_probe()))
    return;
  prober_setup setup{
      .pod = object_,
      .container = record.name,
      .attempt = record.attempt,
      .dir = dir_of(record),
      .since_ms = record.run.since_ms,
      .memory = std::make_shared<probe_memory>(probe_memory{
          .started = record.adopted && record.started, .ready = record.adopted && record.ready}),
      .pod_ip = around_->place.pod_ip,
      .node = around_->node,
      .ask = [probes = around_->helpers.probes](
                 const auto& dir, const auto& question, auto timeout,
                 auto done) { probes->ask(dir, question, timeout, std::move(done)); },
      .worker = self(),
      .recorder = around_->to.recorder};
  // One that outlived a crash of this worker says what it knows.
  const auto asks = spawn({.kind = prober_kind, .name = prober_name(name(), record)},
                          runtime::make<prober>(std::move(setup)));
  tell(asks, repeat_verdicts{});
}

void pod_worker::end_prober(const container_record& record) {
  hook_timers_.erase(record.name);
  if (const auto asks = child(prober_kind, prober_name(name(), record))) stop_child(asks);
}

void pod_worker::on_probe_news(const probe_news& m) {
  auto* record = find_record(m.container);
  if (record == nullptr || record->attempt != m.attempt) return stop_child(sender());
  const auto* spec = spec_of(*record);
  if (spec == nullptr || record->phase != container_phase::running) return;
  if (m.kind == probe_kind::readiness) record->ready = m.verdict == probe_verdict::success;
  if (m.kind == probe_kind::startup && m.verdict == probe_verdict::success) record->started = true;
  if (m.kind != probe_kind::readiness && m.verdict == probe_verdict::failure) {
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

// Ends a container that is not well; by its restart policy it is started again.
void pod_worker::fail_container(container_record& record, runtime::duration grace,
                                const std::string& why) {
  if (terminating() || verdict_ || record.stop.begun()) return;
  record.restart_wanted = true;
  end_container(record, grace, why);
}

// -- hooks ----------------------------------------------------------------------------------------

bool pod_worker::has_stop_hook(const container_record& record) const {
  const auto* spec = spec_of(record);
  return spec != nullptr && !record.init && spec->lifecycle().has_pre_stop() && !gone_;
}

void pod_worker::run_hook(const container_record& record, const LifecycleHandler& hook,
                          bool at_start, runtime::duration timeout) {
  const auto done = [to = self(), container = record.name, attempt = record.attempt,
                     at_start](health_answer answer) {
    to.tell(hook_news{container, attempt, at_start, std::move(answer)});
  };
  const health_answer well{health_answer::kind::success, {}};
  if (hook.has_sleep()) {
    const auto wanted = std::chrono::seconds{hook.sleep().seconds()};
    hook_timers_[record.name] =
        after(std::min<runtime::duration>(wanted, timeout), [done, well] { done(well); });
    return;
  }
  // kubernetes: tcpSocket in hooks is kept for old objects and does nothing.
  if (!hook.has_exec() && !hook.has_http_get()) return done(well);
  const auto question = question_of(hook, *spec_of(record), around_->place.pod_ip);
  if (!question) return done({health_answer::kind::failure, question.error()});
  around_->helpers.hooks->ask(dir_of(record), *question, timeout, done);
}

void pod_worker::on_hook_news(const hook_news& m) {
  auto* record = find_record(m.container);
  if (record == nullptr || record->attempt != m.attempt ||
      record->phase != container_phase::running)
    return;
  const bool well = m.answer.outcome == health_answer::kind::success;
  const auto code =
      m.answer.code == 0 ? std::string{} : fmt::format("command exited with {}: ", m.answer.code);
  const auto text = code + m.answer.message.substr(0, kubelet_defaults::event_text_bytes);
  if (m.at_start) {
    record->preparing = false;
    if (!well) {
      record_pod_event(true, "FailedPostStartHook", "PostStartHook failed: " + text, m.container);
      fail_container(*record, own_grace(), "FailedPostStartHook");
    }
  } else {
    if (!well)
      record_pod_event(true, "FailedPreStopHook", "PreStopHook failed: " + text, m.container);
    carry_out(*record, record->stop.hook_done(now()));
  }
  sync();
}

// -- what cannot be had here ----------------------------------------------------------------------

void pod_worker::say_what_is_unsupported() {
  const auto all =
      unsupported_features(pod(), around_->helpers.containers->groups().keeps_limits());
  if (all.empty()) return;
  record_pod_event(true, "NotSupported",
                   fmt::format("the process runtime does not honour {}", fmt::join(all, ", ")));
}

}  // namespace troupe::actors
