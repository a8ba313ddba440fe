// The directories of the built-in provisioner's volumes on this machine, each named after its
// volume, and a marker for each pod that uses one (docs/decisions/0064-claims.md). Blocks on disk:
// not for actor threads.
//
//   local-volumes/VOLUME                             the data
//   pods/UID/volumes/kubernetes.io~csi/VOLUME        marker of pod UID; removed with the pod
//
// No path is taken from an API object: a volume's name is a single path component below a directory
// of the kubelet, or it is rejected.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <tl/expected.hpp>

namespace troupe::actors {

// Marks the volume as used by the pod, creates its directory if missing, and returns its path.
tl::expected<std::string, std::string> take_local_volume(const std::filesystem::path& root_dir,
                                                         const std::filesystem::path& pod_dir,
                                                         const std::string& volume);
// Whether the pod uses the volume.
bool has_local_volume(const std::filesystem::path& pod_dir, const std::string& volume);

// Removes the directory with its content, unless a pod uses it. `done` also if it is missing.
enum class volume_removal : std::uint8_t { done, in_use, failed };
volume_removal remove_local_volume(const std::filesystem::path& root_dir,
                                   const std::string& volume);

}  // namespace troupe::actors
