// What a pod looks like that runs on a simulated node. Pure.
#pragma once

#include <memory>
#include <string>

#include "api/schema/core_pod.pb.h"
#include "runtime/clock.hpp"

namespace troupe::actors {

struct simulated_addresses {
  std::string host_ip;
  std::string pod_ip;
};

// The pod with the status of one whose containers all run and are ready, its init containers done.
std::unique_ptr<api::core::v1::Pod> as_running(const api::core::v1::Pod& pod,
                                               const simulated_addresses& addresses,
                                               runtime::wall_time now);
// A pod whose containers have been killed.
std::unique_ptr<api::core::v1::Pod> as_killed(const api::core::v1::Pod& pod,
                                              runtime::wall_time now);
// A running pod that has been stopped for its activeDeadlineSeconds.
std::unique_ptr<api::core::v1::Pod> as_overdue(const api::core::v1::Pod& pod,
                                               runtime::wall_time now);

}  // namespace troupe::actors
