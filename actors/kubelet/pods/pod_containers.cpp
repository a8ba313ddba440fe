#include "actors/kubelet/pods/pod_containers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "actors/core/condition.hpp"
#include "actors/kubelet/defaults.hpp"
#include "actors/kubelet/pods/container_order.hpp"
#include "api/values/cidr.hpp"

namespace troupe::actors {

namespace {

using api::core::v1::Container;
using api::core::v1::ContainerState;
using api::core::v1::ContainerStatus;
using api::core::v1::Pod;
using api::core::v1::PodStatus;

// kubernetes: status_manager.go, TerminatePod.
constexpr int unknown_code = 137;

void write_terminated(const container_exit& from, const std::string& id, ContainerState& state) {
  auto& ended = *state.mutable_terminated();
  ended.set_exit_code(from.code);
  if (from.signal != 0) ended.set_signal(from.signal);
  ended.set_reason(from.lost             ? "ContainerStatusUnknown"
                   : !from.error.empty() ? "StartError"
                   : from.out_of_memory  ? "OOMKilled"
                   : from.code == 0      ? "Completed"
                                         : "Error");
  if (!from.error.empty() || !from.message.empty())
    ended.set_message(from.error.empty() ? from.message : from.error);
  ended.mutable_started_at()->set_seconds(from.started_ms / 1000);
  ended.mutable_finished_at()->set_seconds(from.finished_ms / 1000);
  ended.set_container_id(id);
}

struct pod_stage {
  bool has_init;  // init containers exist
  bool ending;    // no container is started any more
};

void write_status(const container_record& record, const std::string& image, const pod_stage& pod,
                  ContainerStatus& status) {
  status.set_name(record.name);
  status.set_image(image);
  status.set_image_id(record.image_ref);
  status.set_restart_count(record.restarts());
  const bool running = record.phase == container_phase::running;
  status.set_started(running && record.started);
  status.set_ready(record.role == container_role::init
                       ? record.succeeded()
                       : record.has_lifecycle() && record.has_started() && record.ready);
  auto& state = *status.mutable_state();
  if (running) {
    status.set_container_id(record.id);
    state.mutable_running()->mutable_started_at()->set_seconds(record.run.since_ms / 1000);
  } else if (record.phase == container_phase::exited) {
    status.set_container_id(record.id);
    write_terminated(*record.last, record.id, state);
  } else if (pod.ending && record.last) {
    status.set_container_id(record.last_id);
    return write_terminated(*record.last, record.last_id, state);
  } else {
    auto& waiting = *state.mutable_waiting();
    waiting.set_reason(!record.waiting_reason.empty() ? record.waiting_reason
                       : pod.has_init                 ? "PodInitializing"
                                                      : "ContainerCreating");
    if (!record.waiting_message.empty()) waiting.set_message(record.waiting_message);
  }
  if (record.last && record.phase != container_phase::exited)
    write_terminated(*record.last, record.last_id, *status.mutable_last_state());
}

// A container of a finished pod of which the runtime knows nothing: it keeps the end that was
// reported before; otherwise it has not run (kubernetes: status_manager.go, TerminatePod).
void settle(ContainerStatus& status, const PodStatus& before) {
  if (!status.state().has_waiting()) return;
  for (const auto& each : before.container_statuses())
    if (each.name() == status.name() && each.state().has_terminated()) {
      status = each;
      return;
    }
  status.clear_state();
  auto& ended = *status.mutable_state()->mutable_terminated();
  ended.set_reason("ContainerStatusUnknown");
  ended.set_message("The container could not be located when the pod was terminated");
  ended.set_exit_code(unknown_code);
}

std::string image_of(const Pod& pod, const container_record& record) {
  if (!record.image.empty()) return record.image;
  const auto spec = container_named(pod, record.name);
  return spec == nullptr ? std::string{} : spec->image();
}

std::string phase_of(const Pod& pod, const std::vector<container_record>& containers, bool ending) {
  bool any_runs = false, any_started = false, init_pending = false, sidecar_pending = false;
  bool init_failed = false, all_over = true, all_good = true;
  for (const auto& record : containers) {
    any_runs |= record.runs();
    if (record.role == container_role::ephemeral) continue;
    if (record.role == container_role::sidecar) {
      sidecar_pending |= !record.has_started();
      continue;
    }
    const bool ended = record.phase == container_phase::exited ||
                       (ending && record.phase == container_phase::waiting);
    const bool over = ended && (ending || !restarts(pod, record));
    if (record.role == container_role::init) {
      // A failed init container ends the pod; an unfinished one keeps it pending.
      init_failed |= over && !record.succeeded();
      init_pending |= !over && !record.succeeded();
      continue;
    }
    any_started |= record.phase == container_phase::running || record.last.has_value();
    all_over &= over;
    all_good &= record.succeeded();
  }
  // A pod whose outcome is decided waits for its sidecars to end.
  const bool over = init_failed || all_over;
  if (over && !any_runs) return all_good && !init_failed ? "Succeeded" : "Failed";
  if (!over && (init_pending || (sidecar_pending && !any_started))) return "Pending";
  return any_started ? "Running" : "Pending";
}

}  // namespace

std::shared_ptr<const Container> container_named(const Pod& pod, const std::string& name) {
  for (const auto* all : {&pod.spec().containers(), &pod.spec().init_containers()})
    for (const auto& each : *all)
      if (each.name() == name) return {std::shared_ptr<const void>{}, &each};
  for (const auto& each : pod.spec().ephemeral_containers())
    if (each.ephemeral_container_common().name() == name) {
      // Both types have the same fields with the same numbers.
      auto common = std::make_shared<Container>();
      common->ParseFromString(each.ephemeral_container_common().SerializeAsString());
      return common;
    }
  return nullptr;
}

std::vector<container_record> records_of(const Pod& pod) {
  std::vector<container_record> all;
  for (const auto& each : pod.spec().ephemeral_containers())
    all.push_back(
        {.name = each.ephemeral_container_common().name(), .role = container_role::ephemeral});
  for (const auto& each : pod.spec().init_containers())
    all.push_back({.name = each.name(),
                   .role = each.restart_policy() == "Always" ? container_role::sidecar
                                                             : container_role::init});
  for (const auto& each : pod.spec().containers())
    all.push_back({.name = each.name()});
  return all;
}

std::string field_path(const Pod& pod, const std::string& container) {
  for (const auto& record : records_of(pod))
    if (record.name == container)
      return fmt::format("spec.{}{{{}}}",
                         record.role == container_role::main        ? "containers"
                         : record.role == container_role::ephemeral ? "ephemeralContainers"
                                                                    : "initContainers",
                         container);
  return {};
}

bool finished(const PodStatus& status) {
  return status.phase() == "Succeeded" || status.phase() == "Failed";
}

runtime::duration grace_of(std::int64_t seconds) {
  constexpr std::int64_t longest = std::numeric_limits<std::int32_t>::max();
  return std::chrono::seconds{std::min(seconds, longest)};
}

bool deadline_exceeded(const Pod& pod, runtime::wall_time now) {
  return pod.spec().has_active_deadline_seconds() && pod.status().has_start_time() &&
         seconds_of(now) - pod.status().start_time().seconds() >=
             pod.spec().active_deadline_seconds();
}

pod_failure deadline_failure() {
  return {"DeadlineExceeded", "Pod was active on the node longer than the specified deadline"};
}

bool restarts(const Pod& pod, const container_record& record) {
  const auto& policy = pod.spec().restart_policy();
  if (record.role == container_role::ephemeral) return false;
  if (record.role == container_role::sidecar) return true;
  if (record.role == container_role::init) return !record.succeeded() && policy != "Never";
  if (record.changed) return true;
  if (record.restart_wanted && policy != "Never") return true;
  return policy == "Always" || policy.empty() ||
         (policy == "OnFailure" && record.last && record.last->code != 0);
}

bool needs_rerun(const Pod& pod, const container_record& record,
                 const std::vector<container_record>& all, const std::string& sandbox) {
  return record.role == container_role::init && record.succeeded() && !record.sandbox.empty() &&
         record.sandbox != sandbox && std::any_of(all.begin(), all.end(), [&](const auto& other) {
           return other.role == container_role::main &&
                  (other.phase == container_phase::waiting ||
                   (other.phase == container_phase::exited && restarts(pod, other)));
         });
}

void plan_restart(container_record& record, runtime::duration lasted, runtime::time_point now) {
  if (lasted >= kubelet_defaults::restart_forgotten) record.backoff = runtime::duration{0};
  record.retry_at = now + record.backoff;
  record.backoff = std::clamp<runtime::duration>(
      record.backoff * 2, kubelet_defaults::restart_first, kubelet_defaults::restart_longest);
}

std::vector<std::string> recorded_ips(const Pod& pod) {
  std::vector<std::string> out;
  for (const auto& each : pod.status().pod_ips())
    out.push_back(each.ip());
  if (out.empty() && !pod.status().pod_ip().empty()) out.push_back(pod.status().pod_ip());
  return out;
}

std::vector<std::string> pod_ips_of(const std::vector<std::string>& of_sandbox,
                                    const std::string& host_ip) {
  const bool v6_first = api::ip_family(host_ip) == "IPv6";
  std::vector<std::string> out;
  for (const auto family : {v6_first ? "IPv6" : "IPv4", v6_first ? "IPv4" : "IPv6"}) {
    const auto found = std::find_if(of_sandbox.begin(), of_sandbox.end(), [&](const auto& address) {
      return api::ip_family(address) == family;
    });
    if (found != of_sandbox.end()) out.push_back(*found);
  }
  return out;
}

PodStatus observed_status(const Pod& pod, const std::vector<container_record>& containers,
                          const pod_addresses& addresses, runtime::wall_time now, bool ending,
                          const pod_failure* failure) {
  PodStatus status{pod.status()};
  if (finished(status) && !status.has_start_time()) return status;  // it never ran here
  if (failure != nullptr) {
    status.set_phase("Failed");
    status.set_reason(failure->reason);
    status.set_message(failure->message);
  } else if (!finished(pod.status())) {
    status.set_phase(phase_of(pod, containers, ending));
  }
  status.set_host_ip(addresses.host_ip);
  status.set_pod_ip(addresses.pod_ip());
  status.clear_host_ips();
  status.add_host_ips()->set_ip(addresses.host_ip);
  if (!addresses.second_host_ip.empty()) status.add_host_ips()->set_ip(addresses.second_host_ip);
  status.clear_pod_ips();
  if (addresses.pod_ips.empty()) status.clear_pod_ip();
  for (const auto& ip : addresses.pod_ips)
    status.add_pod_ips()->set_ip(ip);
  if (!status.has_start_time()) status.mutable_start_time()->set_seconds(seconds_of(now));

  const bool main_began = std::any_of(containers.begin(), containers.end(), [](const auto& c) {
    return c.role == container_role::main && (c.runs() || c.last);
  });
  // A later restart of a sidecar changes nothing.
  const bool initialized = std::all_of(containers.begin(), containers.end(), [&](const auto& c) {
    return c.role == container_role::init      ? c.succeeded()
           : c.role == container_role::sidecar ? main_began || c.has_started()
                                               : true;
  });
  const pod_stage stage{.has_init = !pod.spec().init_containers().empty(), .ending = ending};
  status.clear_container_statuses();
  status.clear_init_container_statuses();
  status.clear_ephemeral_container_statuses();
  bool ready = true;
  for (const auto& record : containers) {
    auto& written =
        *(record.role == container_role::main        ? status.add_container_statuses()
          : record.role == container_role::ephemeral ? status.add_ephemeral_container_statuses()
                                                     : status.add_init_container_statuses());
    write_status(record, image_of(pod, record), stage, written);
    if (record.has_lifecycle()) ready &= written.ready();
  }
  const bool over = finished(status);
  if (over && initialized)
    for (auto& each : *status.mutable_container_statuses())
      settle(each, pod.status());
  // kubernetes: kubelet_pods.go, convertToAPIContainerStatuses. Init containers keep their order.
  for (auto* all :
       {status.mutable_container_statuses(), status.mutable_ephemeral_container_statuses()})
    std::sort(all->pointer_begin(), all->pointer_end(),
              [](const auto* a, const auto* b) { return a->name() < b->name(); });
  const bool completed = status.phase() == "Succeeded";
  auto& conditions = *status.mutable_conditions();
  const std::string_view reason_not_ready = completed ? "PodCompleted"
                                            : over    ? "PodFailed"
                                                      : "ContainersNotReady";
  const auto set = [&](const char* type, bool holds, std::string_view reason) {
    set_condition(conditions, {type, holds ? "True" : "False", holds ? std::string_view{} : reason},
                  now);
  };
  if (failure != nullptr && failure->disruption)
    set_condition(conditions,
                  {"DisruptionTarget", "True", "TerminationByKubelet", failure->message}, now);
  set("PodScheduled", true, {});
  set("Initialized", initialized || completed, "ContainersNotInitialized");
  set("ContainersReady", ready && !over, reason_not_ready);
  const auto& gates = pod.spec().readiness_gates();
  const bool gates_open = std::all_of(gates.begin(), gates.end(), [&](const auto& gate) {
    const auto* condition = find_condition(status.conditions(), gate.condition_type());
    return condition != nullptr && condition->status() == "True";
  });
  set("Ready", ready && !over && gates_open,
      ready && !over ? "ReadinessGatesNotReady" : reason_not_ready);
  return status;
}

}  // namespace troupe::actors
