// How a pod on a simulated node behaves over time, as its annotations and the policy say: when it
// starts, becomes ready, ends, and is started again. docs/simulation.md is for users.
//
// All of it follows from the pod as it is in the store: a minion that is killed continues where it
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
  std::optional<simulated::delay> run_time;  // of each run; absent: until it is deleted
  std::int32_t exit_code = 0;
  std::optional<std::int32_t> failures;  // runs that end with `exit_code`; all when absent
  std::string termination_message;
};

// Nothing when neither annotations nor the policy, which may be null, say anything of the pod. A
// value that makes no sense counts as absent.
std::optional<pod_behavior> behavior_of(const api::core::v1::Pod& pod,
                                        const simulated::policy* policy = nullptr);

// What a pod does next, and when. Nothing: it stays as it is.
struct pod_step {
  runtime::wall_time at;
  enum class change : std::uint8_t { start, become_ready, exit, restart } change;
};
std::optional<pod_step> next_step(const api::core::v1::Pod& pod, const pod_behavior& behavior);

// Whether it is not ready by its own behaviour, and not because its node was silent.
bool is_starting(const api::core::v1::Pod& pod);

// The pod after that step; its addresses only matter at its start.
std::unique_ptr<api::core::v1::Pod> after_step(const api::core::v1::Pod& pod,
                                               const pod_behavior& behavior, enum pod_step::change,
                                               const simulated_addresses& addresses,
                                               runtime::wall_time now);

}  // namespace troupe::actors
