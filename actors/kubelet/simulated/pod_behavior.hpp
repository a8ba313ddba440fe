// How a pod on a simulated node behaves over time, by its annotations and the policy: when it
// starts, becomes ready, ends, and restarts. For users see docs/simulation.md.
//
// All of it is derived from the pod in the store: a minion that is restarted continues where it
// was. Pure.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "actors/kubelet/simulated/simulated_pod.hpp"
#include "actors/simulation/settings.hpp"
#include "api/schema/core_pod.pb.h"
#include "runtime/clock.hpp"

namespace troupe::actors {

struct pod_behavior {
  simulated::delay start_delay;              // from the binding to the start
  simulated::delay ready_delay;              // from each start to readiness
  std::optional<simulated::delay> run_time;  // of each run; absent: until the pod is deleted
  std::int32_t exit_code = 0;
  std::optional<std::int32_t> failures;  // runs that end with `exit_code`; absent: all
  std::string termination_message;
};

// Returns nothing if neither the annotations nor the policy, which may be null, apply to the pod.
// An invalid value counts as absent.
std::optional<pod_behavior> behavior_of(const api::core::v1::Pod& pod,
                                        const simulated::policy* policy = nullptr);

// The next change of a pod and its time; nothing: the pod stays as it is.
struct pod_step {
  runtime::wall_time at;
  enum class change : std::uint8_t { start, become_ready, exit, restart } change;
};
std::optional<pod_step> next_step(const api::core::v1::Pod& pod, const pod_behavior& behavior);

// Whether the pod is not ready by its own behavior, not because its node was down.
bool is_starting(const api::core::v1::Pod& pod);

// The pod after this step; its addresses are used only at its start.
std::unique_ptr<api::core::v1::Pod> after_step(const api::core::v1::Pod& pod,
                                               const pod_behavior& behavior, enum pod_step::change,
                                               const simulated_addresses& addresses,
                                               runtime::wall_time now);

}  // namespace troupe::actors
