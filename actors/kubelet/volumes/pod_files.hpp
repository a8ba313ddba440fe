// The directories of pods below the kubelet's root directory, in upstream's layout if upstream has
// one, and their removal. All but `pod_path` block on disk: not for actor threads.
//
//   pods/UID/volumes/kubernetes.io~empty-dir/NAME …          pod_volumes.hpp
//   pods/UID/containers, pods/UID/logs                       runtimes/process/container_files.hpp
//   pods/UID.deleting~N                                      being removed
#pragma once

#include <filesystem>
#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace troupe::actors {

std::filesystem::path pod_path(const std::filesystem::path& root_dir, const std::string& pod_uid);

// Creates the root directory, accessible to its owner and group only (0750). The error names the
// failed system call.
tl::expected<void, std::string> make_root(const std::filesystem::path& root_dir);

// Uids of the pods that have a directory. Continues removals that were interrupted.
std::vector<std::string> pods_on_disk(const std::filesystem::path& root_dir);

// Renames the pod's directory, so that it counts as removed even after a crash; then unmounts
// everything below it and removes it. `pods_on_disk` retries an incomplete removal.
void remove_pod_files(const std::filesystem::path& pod_dir);

}  // namespace troupe::actors
