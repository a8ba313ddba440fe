// Mount points of volumes in containers that share the machine's file system: what is missing at a
// mountPath is made, empty, and removed with the last pod that uses it
// (docs/decisions/0008-where-volumes-stand.md).
//
// Kept on disk, so that nothing is forgotten when the node is killed:
//   ROOT/mount-points/<path with %2F>/<uid of a pod>
// Thread safe. Blocks on disk: not for actors' threads.
#pragma once

#include <filesystem>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "actors/kubelet/runtimes/process/container_dir.hpp"
#include "runtime/unique_fd.hpp"

namespace troupe::actors {

// Makes subPaths that are missing in their volumes, and the mount points of a container. The error
// names the mountPath and what is there instead.
tl::expected<void, std::string> prepare_mounts(const std::filesystem::path& root_dir,
                                               const std::string& pod_uid,
                                               const std::vector<container_mount>& mounts);

// Removes the mount points that were made and that no other pod uses. A directory that is not empty
// stays.
void release_mount_points(const std::filesystem::path& root_dir, const std::string& pod_uid);

// Sorts mounts from the outermost to the innermost.
void order_mounts(std::vector<container_mount>& mounts);

// The source of a mount, opened without following anything out of its volume. The kubelet looks
// before the start, the shim again in the moment of mounting.
tl::expected<runtime::unique_fd, std::string> open_source(const container_mount& mount);

}  // namespace troupe::actors
