// What a container is to be as a process of this machine, or why it cannot be. Pure.
#pragma once

#include "actors/kubelet/runtime/container_types.hpp"
#include "actors/kubelet/runtimes/process/container_dir.hpp"

namespace troupe::actors {

// What the machine gives to containers.
struct process_machine {
  machine_rights rights;
  bool mounts_volumes = true;
  std::vector<std::string> hidden;
  std::int64_t pod_pids_limit = 0;
};

// All of the spec but where it is on disk. An error is `refused`, with its reason
// (CreateContainerConfigError).
runtime_result<container_spec> process_spec(const container_config& config,
                                            const process_machine& machine);

// What the container's resources ask for of its control group.
resource_limits limits_of(const api::core::v1::Container& container);

// Why there is nothing to run: a container with neither command nor arguments needs an image
// (ImageRuntimeRequired). Nothing where there is something.
std::optional<runtime_error> needs_image(const api::core::v1::Container& container);

}  // namespace troupe::actors
