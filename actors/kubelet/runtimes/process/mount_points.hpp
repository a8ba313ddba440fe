// Mount points of volumes in containers that share the machine's file system: a missing mountPath
// is created empty, and removed with the last pod that uses it
// (docs/decisions/0008-mount-points-of-volumes.md).
//
// Recorded on disk, so that the records survive a kill of the node process:
//   ROOT/mount-points/<path with %2F>/<uid of a pod>
// Thread safe. Blocks on disk: do not call it on an actor's thread.
#pragma once

#include <filesystem>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "actors/kubelet/runtimes/process/container_dir.hpp"
#include "runtime/unique_fd.hpp"

namespace troupe::actors {

// Creates missing subPaths in their volumes, and the mount points of a container. The error names
// the mountPath and the file that is in its place.
tl::expected<void, std::string> prepare_mounts(const std::filesystem::path& root_dir,
                                               const std::string& pod_uid,
                                               const std::vector<container_mount>& mounts);

// Removes the created mount points that no other pod uses. A directory that is not empty
// stays.
void release_mount_points(const std::filesystem::path& root_dir, const std::string& pod_uid);

// Sorts mounts from the outermost to the innermost.
void order_mounts(std::vector<container_mount>& mounts);

// Opens the source of a mount without following links out of its volume. The kubelet calls it
// before the start, the shim again at the moment of mounting.
tl::expected<runtime::unique_fd, std::string> open_source(const container_mount& mount);

}  // namespace troupe::actors
