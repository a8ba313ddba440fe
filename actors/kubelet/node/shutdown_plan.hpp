// The order in which pods end at a shutdown (kubernetes: nodeshutdown_manager.go). Pure.
#pragma once

#include <deque>
#include <vector>

#include "actors/kubelet/pods/pod_containers.hpp"
#include "api/object/object.hpp"
#include "runtime/clock.hpp"

namespace troupe::actors {

struct shutdown_times {
  runtime::duration all{0};       // 0: pods are not ended
  runtime::duration critical{0};  // part of `all` for critical pods, which end last
};

// Pods that end together, and the time they have for it.
struct shutdown_step {
  std::vector<api::object_ptr> pods = {};
  runtime::duration time{0};
};

// Groups the pods that have not ended into consecutive steps; steps without pods are left out.
std::deque<shutdown_step> plan_shutdown(const std::vector<api::object_ptr>& pods,
                                        const shutdown_times& times);

// The grace period is the pod's own, or the time of its step if that is shorter.
pod_failure shutdown_failure(const api::core::v1::Pod& pod, runtime::duration time);
// The reason why no pod is admitted during a shutdown.
pod_failure shutdown_rejection();

}  // namespace troupe::actors
