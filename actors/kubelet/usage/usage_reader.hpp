// Reads the usage of a machine and the containers of its runtime, for usage_meter.hpp.
#pragma once

#include <functional>
#include <memory>

#include "actors/kubelet/os/job_queue.hpp"
#include "actors/kubelet/runtime/usage.hpp"
#include "actors/kubelet/usage/usage_meter.hpp"

namespace troupe::actors {

// Reads the machine and `supplies` in a job, the containers from their source. Values that cannot
// be read are left out.
usage_reader make_usage_reader(std::shared_ptr<usage_source> containers,
                               std::shared_ptr<job_queue> jobs,
                               std::function<node_supplies()> supplies);

}  // namespace troupe::actors
