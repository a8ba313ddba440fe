// The worker's record of each container of a pod, and the rules that derive the pod's status and
// the next step from it. Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/kubelet/pods/container_stop.hpp"
#include "actors/kubelet/runtime/container_types.hpp"
#include "api/schema/core_pod.pb.h"
#include "runtime/clock.hpp"

namespace troupe::actors {

enum class container_phase : std::uint8_t { waiting, starting, running, exited };

// A sidecar is an init container with restartPolicy Always.
enum class container_role : std::uint8_t { main, init, sidecar, ephemeral };

struct container_record {
  std::string name;
  container_role role = container_role::main;
  container_phase phase = container_phase::waiting;
  int attempt = 0;  // of the current or next start
  // Of the latest attempt; empty: unknown. The image as in the spec, and as the runtime names it.
  std::string id = {}, sandbox = {}, image = {}, image_ref = {};
  container_running run = {};
  // In force in the latest attempt; absent: unknown.
  std::optional<api::core::v1::ResourceRequirements> resources = {};
  std::optional<container_exit> last = {};  // of the latest attempt that ended
  std::string last_id = {};
  // Why the container waits, e.g. CrashLoopBackOff; empty: ContainerCreating (PodInitializing in a
  // pod with init containers).
  std::string waiting_reason = {}, waiting_message = {};
  runtime::duration backoff{0};
  runtime::time_point retry_at{};
  bool ready = true;            // result of its readiness probe; true without one
  bool started = true;          // result of its startup probe; true without one
  bool adopted = false;         // started before this worker: its Started event exists already
  bool preparing = false;       // its postStart hook has not ended
  bool restart_wanted = false;  // a probe or hook ended it: restart it, whatever its exit code
  bool changed = false;         // it ends for a new image: restart it, whatever the policy
  container_stop stop = {};

  // The next attempt counts once it has started.
  int restarts() const {
    return phase == container_phase::waiting || phase == container_phase::starting
               ? std::max(attempt - 1, 0)
               : attempt;
  }
  bool succeeded() const { return phase == container_phase::exited && last && last->code == 0; }
  bool runs() const {
    return phase == container_phase::starting || phase == container_phase::running;
  }
  // Whether a container of this role may have probes and hooks.
  bool has_lifecycle() const {
    return role == container_role::main || role == container_role::sidecar;
  }
  // Whether its probes and postStart hook allow the next containers to start.
  bool has_started() const { return phase == container_phase::running && started && !preparing; }
};

// The initial records of the pod's containers, in start
// order.
std::vector<container_record> records_of(const api::core::v1::Pod& pod);

// Finds a container in all lists of the pod; null: not found. An ephemeral container is returned as
// a copy, the others live as long as the pod.
std::shared_ptr<const api::core::v1::Container> container_named(const api::core::v1::Pod& pod,
                                                                const std::string& name);

// "spec.initContainers{NAME}", as in the involvedObject.fieldPath of events.
std::string field_path(const api::core::v1::Pod& pod, const std::string& container);

// Phase "Succeeded" or "Failed": such a pod is never started again.
bool finished(const api::core::v1::PodStatus& status);

// Whether a container that has ended must be restarted.
bool restarts(const api::core::v1::Pod& pod, const container_record& record);

// Whether an init container that has succeeded must run again: its results may be lost with
// its sandbox while a later container has not started yet (kubernetes: a new sandbox begins
// with the init containers). `sandbox` is the pod's current sandbox; empty: a new one is
// needed.
bool needs_rerun(const api::core::v1::Pod& pod, const container_record& record,
                 const std::vector<container_record>& all, const std::string& sandbox);

// Plans the next attempt: the first restart is immediate, later ones have a growing back-off until
// an attempt lasts long enough (kubernetes: kuberuntime_manager.go, doBackOff).
void plan_restart(container_record& record, runtime::duration lasted, runtime::time_point now);

struct pod_addresses {
  std::string host_ip;
  std::vector<std::string> pod_ips;  // at most one of each family; empty: not assigned yet
  std::string second_host_ip = {};   // the node's address of the other family; empty: none

  std::string pod_ip() const { return pod_ips.empty() ? std::string{} : pod_ips.front(); }
};

// The addresses in the status of a pod.
std::vector<std::string> recorded_ips(const api::core::v1::Pod& pod);
// The addresses that the status of a pod has, of those of its sandbox: the first of each family,
// beginning with the family of the node's address (kubernetes: kubelet_pods.go, sortPodIPs).
std::vector<std::string> pod_ips_of(const std::vector<std::string>& of_sandbox,
                                    const std::string& host_ip);

// Why the kubelet ends a pod that stays in the store.
struct pod_failure {
  std::string reason, message;
  std::optional<runtime::duration> grace = {};  // overrides the pod's own grace period
  // The pod is not the cause: sets its condition DisruptionTarget, which the Job controller uses.
  bool disruption = false;
};

// Limited to 68 years: clocks count nanoseconds in 64 bits.
runtime::duration grace_of(std::int64_t seconds);

// Whether activeDeadlineSeconds has passed; false without a start time or a deadline.
bool deadline_exceeded(const api::core::v1::Pod& pod, runtime::wall_time now);
pod_failure deadline_failure();

// The status that the kubelet reports. Conditions keep their times if nothing changed, and a
// finished pod stays finished. `ending`: no container is started any more, so an ended container
// has ended for good. A failure sets the phase Failed.
api::core::v1::PodStatus observed_status(const api::core::v1::Pod& pod,
                                         const std::vector<container_record>& containers,
                                         const pod_addresses& addresses, runtime::wall_time now,
                                         bool ending = false, const pod_failure* failure = nullptr);

}  // namespace troupe::actors
