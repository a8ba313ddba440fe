// A pod's limits of local storage: the sizeLimit of its emptyDirs, and its containers' limits of
// ephemeral-storage (kubernetes: eviction_manager.go, localStorageEviction).
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "actors/kubelet/pods/pod_containers.hpp"
#include "actors/kubelet/runtime/usage.hpp"
#include "api/schema/core_pod.pb.h"

namespace troupe::actors {

struct storage_usage {
  // Bytes by name: of the emptyDirs, and of the containers' logs with the layers that are not on a
  // disk of their own.
  std::map<std::string, std::int64_t> empty_dirs = {}, containers = {};
  std::int64_t pod = 0;  // logs, layers and volumes on disk, without claims and hostPaths
};

// Whether the usage must be measured, and whether it includes the layers of containers. A
// system-critical pod is never evicted.
bool has_storage_limits(const api::core::v1::Pod& pod);
bool limits_containers(const api::core::v1::Pod& pod);

// The failure of a pod that exceeds a limit. Pure.
std::optional<pod_failure> over_limit(const api::core::v1::Pod& pod, const storage_usage& usage);

// Measures what the pod's limits need, with at most `kubelet_defaults::measured_files` files of
// each volume and log. Blocks on disk: not for actor threads.
storage_usage read_storage(const api::core::v1::Pod& pod, const std::filesystem::path& pod_dir,
                           const std::vector<layer_usage>& layers);

}  // namespace troupe::actors
