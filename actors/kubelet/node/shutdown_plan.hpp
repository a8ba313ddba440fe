// How the pods of a machine end that shuts down (kubernetes: nodeshutdown_manager.go). Pure.
#pragma once

#include <deque>
#include <vector>

#include "actors/kubelet/pods/pod_containers.hpp"
#include "api/object/object.hpp"
#include "runtime/clock.hpp"

namespace troupe::actors {

struct shutdown_times {
  runtime::duration all{0};       // 0: pods are left as they are
  runtime::duration critical{0};  // of it, for critical pods, which end last
};

// Pods that end together, and how long that may take.
struct shutdown_step {
  std::vector<api::object_ptr> pods = {};
  runtime::duration time{0};
};

// Those that have not ended, in steps that follow each other; a step without pods is left out.
std::deque<shutdown_step> plan_shutdown(const std::vector<api::object_ptr>& pods,
                                        const shutdown_times& times);

// With the pod's own grace, or the time of its step where that is shorter.
pod_failure shutdown_failure(const api::core::v1::Pod& pod, runtime::duration time);
// Why no pod is admitted any more.
pod_failure shutdown_rejection();

}  // namespace troupe::actors
