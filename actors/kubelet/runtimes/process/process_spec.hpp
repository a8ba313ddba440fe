// Converts a container's config into the spec of a process, or says why it cannot run. Pure.
#pragma once

#include "actors/kubelet/pods/pod_dns.hpp"
#include "actors/kubelet/runtime/container_types.hpp"
#include "actors/kubelet/runtimes/process/container_dir.hpp"

namespace troupe::actors {

// Properties of the machine that matter to containers.
struct process_machine {
  machine_rights rights;
  bool mounts_volumes = true;
  std::vector<std::string> hidden;
  std::int64_t pod_pids_limit = 0;
  log_limits log = {};
  resolver_config resolver = {};  // of the machine
  cluster_resolver cluster = {};
};

// Fills in the whole spec except its paths on disk. An error is `refused`, with its reason
// (CreateContainerConfigError).
runtime_result<container_spec> process_spec(const container_config& config,
                                            const process_machine& machine);

// The control group limits for the container's resources.
resource_limits limits_of(const api::core::v1::Container& container);

// Returns an error if the container has neither command nor arguments and so needs an image
// (ImageRuntimeRequired).
std::optional<runtime_error> needs_image(const api::core::v1::Container& container);

}  // namespace troupe::actors
