// How a pod's worker starts, restarts and ends its containers.
#include <fmt/format.h>

#include <algorithm>

#include "actors/kubelet/defaults.hpp"
#include "actors/kubelet/security/security_context.hpp"
#include "actors/kubelet/workers/pod_worker.hpp"
#include "api/schema/meta_object.pb.h"
#include "api/values/quantity.hpp"

namespace troupe::actors {

namespace {

resource_limits limits_of(const api::core::v1::Container& container) {
  const auto find = [](const auto& of, const char* name) -> std::optional<api::quantity> {
    const auto found = of.find(name);
    if (found == of.end()) return std::nullopt;
    auto amount = api::quantity::parse(found->second.string());
    return amount ? std::optional{*amount} : std::nullopt;
  };
  const auto& resources = container.resources();
  resource_limits out;
  if (const auto memory = find(resources.limits(), "memory")) out.memory_bytes = memory->value();
  if (const auto cpu = find(resources.limits(), "cpu")) out.milli_cpu = cpu->milli_value();
  if (const auto cpu = find(resources.requests(), "cpu"))
    out.requested_milli_cpu = cpu->milli_value();
  return out;
}

}  // namespace

void pod_worker::adopt(const process_runtime::found& found) {
  auto* record = find_record(found.container);
  if (record == nullptr)
    record = &containers_.emplace_back(container_record{.name = found.container});
  record->attempt = found.attempt;
  record->phase = container_phase::starting;
  record->adopted = true;
  record->last = found.before;
  record->image = found.image;
  record->boot_id = found.boot_id;
  // What the probes have found is not forgotten with the node that heard it. Without a probe
  // nothing is to be found: there the status said no only for a hook, which has gone with its
  // asker.
  if (object_)
    for (const auto& status : pod().status().container_statuses())
      if (status.container_id() == container_id(pod(), *record)) {
        record->started |= status.started();
        record->ready |= status.ready();
      }
  context_->helpers.containers->follow(found.dir, context_->boot_id,
                                       observer(found.container, found.attempt));
}

void pod_worker::run_containers() {
  if (finished(pod().status())) return;
  for (auto& record : containers_) {
    check_image(record);
    if (record.phase == container_phase::exited &&
        (restarts(pod(), record) || needs_rerun(pod(), record, containers_, context_->boot_id)))
      await_restart(record);
    if (record.phase == container_phase::waiting && record.retry_at <= now()) start(record);
    if (record.phase == container_phase::running) execute(record, record.stop.look(now()));
    // Init containers run one after the other, and all before the others.
    if (record.init && !record.succeeded()) return;
  }
}

// Another image is another container: what runs makes way for it, and how the old one ended does
// not delay it (kubernetes: containerChanged, GetStableKey).
void pod_worker::check_image(container_record& record) {
  const auto* spec = spec_of(record);
  if (spec == nullptr || record.image.empty() || record.image == spec->image()) return;
  record.backoff = {};
  record.retry_at = {};
  if (record.init || record.phase != container_phase::running) return;
  record.changed = true;
  fail_container(record, own_grace(),
                 fmt::format("Container {} definition changed, will be restarted", record.name));
}

void pod_worker::await_restart(container_record& record) {
  record.phase = container_phase::waiting;
  record.adopted = record.restart_wanted = record.changed = false;
  ++record.attempt;
  reset_health(record);
  if (record.retry_at <= now()) return;
  record.waiting_reason = "CrashLoopBackOff";
  const auto wait = std::chrono::ceil<std::chrono::seconds>(record.retry_at - now());
  record.waiting_message =
      fmt::format("back-off {}s restarting failed container={} pod={}_{}({})", wait.count(),
                  record.name, pod().metadata().name(), pod().metadata().namespace_(), uid_);
  record_pod_event(true, "BackOff", "Back-off restarting failed container " + record.name,
                   record.name);
}

void pod_worker::start(container_record& record) {
  const auto* container = spec_of(record);
  if (container == nullptr || !references_known() || !volumes_ready_) return;
  record.image = container->image();
  record.boot_id = context_->boot_id;
  auto environment = container_environment(placed_pod(), *container, reference_reader());
  if (!environment)
    return refuse(record, "CreateContainerConfigError", std::move(environment.error()));
  // Arguments alone are the program, as in an image that has no entry point.
  if (container->command().empty() && container->args().empty())
    return refuse(record, "ImageRuntimeRequired",
                  fmt::format("container \"{}\" has neither command nor args: the process runtime "
                              "runs programs of this machine and cannot run image \"{}\"; set "
                              "command, or use an image runtime",
                              record.name, container->image()));
  auto security = security_of(pod(), *container, context_->rights);
  if (!security) return refuse(record, "CreateContainerConfigError", std::move(security.error()));
  security->hidden = context_->hidden;
  container_spec spec{.command = container_command(*container, *environment),
                      .environment = std::move(*environment),
                      .working_dir = container->working_dir(),
                      .log_file = log_path(context_->root_dir, uid_, record.name, record.attempt)};
  place_volumes(*container, spec);
  spec.limits = limits_of(*container);
  spec.limits.pod_pids = context_->pod_pids_limit;
  spec.image = record.image;
  spec.boot_id = record.boot_id;
  spec.security = std::move(*security);
  record.waiting_reason.clear();
  record.waiting_message.clear();
  record.phase = container_phase::starting;
  context_->helpers.containers->start(dir_of(record), std::move(spec),
                                      observer(record.name, record.attempt));
}

void pod_worker::refuse(container_record& record, const char* reason, std::string message) {
  if (record.waiting_reason != reason) record_pod_event(true, "Failed", message, record.name);
  record.waiting_reason = reason;
  record.waiting_message = std::move(message);
  record.retry_at = now() + kubelet_defaults::restart_first;
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

// The deletionTimestamp is the moment at which the grace period is over.
runtime::duration pod_worker::grace_left() const {
  if (gone_ || !object_ || object_->meta().deletion_grace_period_seconds() == 0) return {};
  const std::chrono::seconds deadline{object_->meta().deletion_timestamp().seconds()};
  return std::max<runtime::duration>(deadline - wall_now().time_since_epoch(), {});
}

runtime::duration pod_worker::own_grace() const {
  return grace_of(pod().spec().termination_grace_period_seconds());
}

void pod_worker::end_containers(runtime::duration grace) {
  for (auto& record : containers_)
    if (record.phase == container_phase::running)
      end_container(record, grace, "Stopping container " + record.name);
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
    context_->helpers.containers->stop(dir_of(record), step == stop_step::kill);
}

}  // namespace troupe::actors
