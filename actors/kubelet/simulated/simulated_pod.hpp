// The status of pods on a simulated node. Pure.
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

// The pod with all containers running and ready and all init containers completed.
std::unique_ptr<api::core::v1::Pod> as_running(const api::core::v1::Pod& pod,
                                               const simulated_addresses& addresses,
                                               runtime::wall_time now);
// The pod with its containers killed.
std::unique_ptr<api::core::v1::Pod> as_killed(const api::core::v1::Pod& pod,
                                              runtime::wall_time now);
// The pod stopped because its activeDeadlineSeconds have passed.
std::unique_ptr<api::core::v1::Pod> as_overdue(const api::core::v1::Pod& pod,
                                               runtime::wall_time now);

}  // namespace troupe::actors
