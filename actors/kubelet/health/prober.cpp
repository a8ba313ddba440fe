#include "actors/kubelet/health/prober.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "actors/core/messages.hpp"
#include "actors/kubelet/defaults.hpp"
#include "actors/kubelet/pods/pod_containers.hpp"
#include "api/schema/core_pod.pb.h"

namespace troupe::actors {

using api::core::v1::Container;
using api::core::v1::Pod;
using api::core::v1::Probe;

namespace {

constexpr probe_kind all_kinds[] = {probe_kind::startup, probe_kind::liveness,
                                    probe_kind::readiness};

const Probe* probe_of(const Container& container, probe_kind kind) {
  const bool startup = kind == probe_kind::startup, liveness = kind == probe_kind::liveness;
  const bool has = startup    ? container.has_startup_probe()
                   : liveness ? container.has_liveness_probe()
                              : container.has_readiness_probe();
  if (!has) return nullptr;
  const auto& probe = startup    ? container.startup_probe()
                      : liveness ? container.liveness_probe()
                                 : container.readiness_probe();
  return supported(probe) ? &probe : nullptr;
}

}  // namespace

const runtime::behavior& prober::make_behavior() const {
  static const runtime::behavior table =
      runtime::handlers(&prober::on_probed, &prober::on_repeat_results);
  return table;
}

const Container& prober::container() const {
  if (const auto found = container_named(setup_.pod->as<Pod>(), setup_.container)) return *found;
  throw std::runtime_error{"the pod has no container " + setup_.container};
}

void prober::started() {
  for (const auto kind : all_kinds)
    if (const auto* probe = probe_of(container(), kind)) {
      const auto settings = settings_of(*probe);
      of(kind).emplace(probing{.probe = probe,
                               .settings = settings,
                               .count = probe_count{kind, settings, setup_.memory->ready}});
    }
  // The other probes wait until the container has started.
  if (of(probe_kind::startup) && !setup_.memory->started) return begin(probe_kind::startup);
  begin(probe_kind::liveness);
  begin(probe_kind::readiness);
}

std::string prober::describe() const {
  static constexpr const char* verdicts[] = {"unknown", "success", "failure"};
  std::string text = fmt::format("container: {}\nattempt: {}\n", setup_.container, setup_.attempt);
  for (const auto kind : all_kinds)
    if (const auto& probe = probes_[static_cast<int>(kind)])
      text += fmt::format("{}: {}\n", to_string(kind),
                          verdicts[static_cast<int>(probe->count.result())]);
  return text;
}

// The initial delay counts from the start of the container, even if this worker adopted it.
void prober::begin(probe_kind kind) {
  auto& probe = of(kind);
  if (!probe) return;
  const auto age = wall_now().time_since_epoch() - std::chrono::milliseconds{setup_.since_ms};
  const auto delay = std::clamp<runtime::duration>(
      probe->settings.initial_delay - age, runtime::duration{0}, probe->settings.initial_delay);
  probe->first = after(delay, [this, kind] {
    auto& due = of(kind);
    due->next = every(due->settings.period, [this, kind] { run_probe(kind); });
    run_probe(kind);
  });
}

void prober::run_probe(probe_kind kind) {
  auto& probe = *of(kind);
  if (probe.running || probe.count.over()) return;
  const auto check = health_check_of(probe.probe->handler(), container(), setup_.pod_ip);
  if (!check)
    return record("Unhealthy", fmt::format("{} probe errored: {}", to_string(kind), check.error()));
  probe.running = true;
  setup_.run_check(setup_.id, *check, probe.settings.timeout,
                   [to = self(), kind](health_result result) {
                     to.tell(probed{kind, std::move(result)});
                   });
}

void prober::on_probed(const probed& m) {
  auto& probe = of(m.kind);
  if (!probe) return;
  probe->running = false;
  const auto& text = m.result.message;
  if (m.result.status == check_status::unknown)
    return record("Unhealthy", fmt::format("{} probe errored: {}", to_string(m.kind), text));
  const bool success = m.result.status == check_status::success;
  if (!success) record("Unhealthy", fmt::format("{} probe failed: {}", to_string(m.kind), text));
  if (m.result.warning)
    record("ProbeWarning", fmt::format("{} probe warning: {}", to_string(m.kind), text));
  if (probe->count.over() || !probe->count.take(success)) return;
  report_result(m.kind);
  if (probe->count.over()) probe->next.cancel();
  if (m.kind == probe_kind::startup && success) {
    begin(probe_kind::liveness);
    begin(probe_kind::readiness);
  }
}

void prober::on_repeat_results(const repeat_results&) {
  for (const auto kind : all_kinds)
    if (of(kind)) report_result(kind);
}

void prober::report_result(probe_kind kind) {
  auto result = of(kind)->count.result();
  if (kind == probe_kind::startup) setup_.memory->started |= result == probe_result::success;
  if (kind == probe_kind::startup && setup_.memory->started) result = probe_result::success;
  if (kind == probe_kind::readiness) setup_.memory->ready = result == probe_result::success;
  tell(setup_.worker, probe_event{setup_.container, setup_.attempt, kind, result});
}

void prober::record(const char* reason, const std::string& message) {
  tell(setup_.recorder,
       record_event{.about = setup_.pod,
                    .warning = true,
                    .reason = reason,
                    .message = event_text(message),
                    .component = "kubelet",
                    .field_path = actors::field_path(setup_.pod->as<Pod>(), setup_.container),
                    .host = setup_.node});
}

}  // namespace troupe::actors
