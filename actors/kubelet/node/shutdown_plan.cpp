#include "actors/kubelet/node/shutdown_plan.hpp"

#include <algorithm>
#include <utility>

#include "actors/kubelet/pressure/pressure_rules.hpp"

namespace troupe::actors {

using api::core::v1::Pod;

std::deque<shutdown_step> plan_shutdown(const std::vector<api::object_ptr>& pods,
                                        const shutdown_times& times) {
  const auto critical = std::min(times.critical, times.all);
  shutdown_step first{.time = times.all - critical}, last{.time = critical};
  for (const auto& each : pods) {
    const auto& pod = each->as<Pod>();
    if (finished(pod.status())) continue;
    (is_critical(pod) ? last : first).pods.push_back(each);
  }
  std::deque<shutdown_step> steps;
  for (auto* each : {&first, &last})
    if (!each->pods.empty()) steps.push_back(std::move(*each));
  return steps;
}

pod_failure shutdown_failure(const Pod& pod, runtime::duration time) {
  return {.reason = "Terminated",
          .message = "Pod was terminated in response to imminent node shutdown.",
          .grace = std::min(grace_of(pod.spec().termination_grace_period_seconds()), time),
          .disruption = true};
}

pod_failure shutdown_rejection() {
  return {.reason = "NodeShutdown", .message = "Pod was rejected as the node is shutting down."};
}

}  // namespace troupe::actors
