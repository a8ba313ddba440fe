// The directories of the built-in provisioner's volumes on this machine, each named after its
// volume, and a note of each pod that has one (docs/decisions/0064-claims.md). Blocks on disk: not
// for actors' threads.
//
//   local-volumes/VOLUME                             the data
//   pods/UID/volumes/kubernetes.io~csi/VOLUME        the pod UID has it; empty, gone with the pod
//
// No path comes from an object of the API: the name of a volume is one step below a directory of
// the kubelet's own, or it is refused.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <tl/expected.hpp>

namespace troupe::actors {

// Notes that the pod has the volume, then makes the directory where it is not there; its path.
tl::expected<std::string, std::string> take_local_volume(const std::filesystem::path& root_dir,
                                                         const std::filesystem::path& pod_dir,
                                                         const std::string& volume);
// Whether that pod has it.
bool has_local_volume(const std::filesystem::path& pod_dir, const std::string& volume);

// Removes the directory and all that is in it, unless a pod has it. Done also where there is none.
enum class volume_removal : std::uint8_t { done, in_use, failed };
volume_removal remove_local_volume(const std::filesystem::path& root_dir,
                                   const std::string& volume);

}  // namespace troupe::actors
