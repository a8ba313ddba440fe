// What a pod's worker knows of each container, and what follows from that for the pod's status and
// for the next step. Pure.
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
  int attempt = 0;  // of the present or next start
  // Of the latest attempt; empty: not known. The image as in its spec, and as the runtime names it.
  std::string id = {}, sandbox = {}, image = {}, image_ref = {};
  container_running run = {};
  // In force in the latest attempt; absent: not known.
  std::optional<api::core::v1::ResourceRequirements> resources = {};
  std::optional<container_exit> last = {};  // of the latest attempt that ended
  std::string last_id = {};
  // Why it waits, e.g. CrashLoopBackOff; empty: ContainerCreating (PodInitializing in a pod with
  // init containers).
  std::string waiting_reason = {}, waiting_message = {};
  runtime::duration backoff{0};
  runtime::time_point retry_at{};
  bool ready = true;            // as its readiness probe says; true without one
  bool started = true;          // as its startup probe says; true without one
  bool adopted = false;         // it ran before this worker did; its start was told of then
  bool preparing = false;       // its postStart hook has not ended
  bool restart_wanted = false;  // a probe or hook has ended it: again, whatever its exit code
  bool changed = false;         // it ends for another image: again, whatever the policy
  container_stop stop = {};

  // The attempt that comes next counts when it has started.
  int restarts() const {
    return phase == container_phase::waiting || phase == container_phase::starting
               ? std::max(attempt - 1, 0)
               : attempt;
  }
  bool succeeded() const { return phase == container_phase::exited && last && last->code == 0; }
  bool runs() const {
    return phase == container_phase::starting || phase == container_phase::running;
  }
  // It has probes and hooks.
  bool has_lifecycle() const {
    return role == container_role::main || role == container_role::sidecar;
  }
  // Its probes and its hook let the ones after it begin.
  bool has_started() const { return phase == container_phase::running && started && !preparing; }
};

// The records of the pod's containers before anything of them is known, in the order of their
// start.
std::vector<container_record> records_of(const api::core::v1::Pod& pod);

// Of all lists of the pod's containers; null: there is none. An ephemeral one is a copy, the others
// live as long as the pod.
std::shared_ptr<const api::core::v1::Container> container_named(const api::core::v1::Pod& pod,
                                                                const std::string& name);

// "spec.initContainers{NAME}", as events about it say.
std::string field_path(const api::core::v1::Pod& pod, const std::string& container);

// "Succeeded" or "Failed": such a pod is never started again.
bool finished(const api::core::v1::PodStatus& status);

// Whether a container that has ended is to be started again.
bool restarts(const api::core::v1::Pod& pod, const container_record& record);

// Whether an init container that has succeeded is to run again: what it did for the others may have
// gone with the sandbox in which it did it, and one of them is still to be started (kubernetes: a
// new sandbox begins with the init containers). `sandbox` is that of the pod now; empty: there is
// to be a new one.
bool needs_rerun(const api::core::v1::Pod& pod, const container_record& record,
                 const std::vector<container_record>& all, const std::string& sandbox);

// When an attempt has ended and another is to follow: the first one comes at once, from then on
// each waits longer, until one has lasted (kubernetes: kuberuntime_manager.go, doBackOff).
void plan_restart(container_record& record, runtime::duration lasted, runtime::time_point now);

struct pod_addresses {
  std::string host_ip;
  std::string pod_ip;  // empty: it has none yet
};

// Why a pod is brought to its end while it stays in the store.
struct pod_failure {
  std::string reason, message;
  std::optional<runtime::duration> grace = {};  // other than the pod's own
  // Nothing that the pod did: its condition DisruptionTarget says so, on which jobs decide.
  bool disruption = false;
};

// 68 years at most: clocks count nanoseconds in 64 bits.
runtime::duration grace_of(std::int64_t seconds);

// activeDeadlineSeconds is over. Without a start time, or without a deadline, it never is.
bool deadline_exceeded(const api::core::v1::Pod& pod, runtime::wall_time now);
pod_failure deadline_failure();

// The status that the kubelet reports; conditions keep their times where nothing changed, and a
// finished pod stays finished. `ending`: nothing is started any more, so that what has ended has
// ended for good. A failure makes it Failed.
api::core::v1::PodStatus observed_status(const api::core::v1::Pod& pod,
                                         const std::vector<container_record>& containers,
                                         const pod_addresses& addresses, runtime::wall_time now,
                                         bool ending = false, const pod_failure* failure = nullptr);

}  // namespace troupe::actors
