// Paths of the files of pods below the kubelet's root directory, in upstream's layout where
// upstream has one, and their removal. All but the first three functions block on disk: not for
// actors' threads.
//
//   pods/UID/containers/NAME/ATTEMPT/                        container_dir.hpp
//   pods/UID/logs/NAME/ATTEMPT.log                           and its rotations
//   pods/UID/volumes/kubernetes.io~empty-dir/NAME …          pod_volumes.hpp
//   pods/UID.deleting~N                                      being removed
#pragma once

#include <filesystem>
#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace troupe::actors {

std::filesystem::path pod_path(const std::filesystem::path& root_dir, const std::string& pod_uid);
std::filesystem::path attempt_path(const std::filesystem::path& pod_dir,
                                   const std::string& container, int attempt);
// The log of one attempt.
std::filesystem::path log_path(const std::filesystem::path& root_dir, const std::string& pod_uid,
                               const std::string& container, int attempt);

// Makes the root directory, open to its owner and group alone (0750). The error says what the
// system refused.
tl::expected<void, std::string> make_root(const std::filesystem::path& root_dir);

// Removes what attempts before the last one left, logs included: `kubectl logs --previous` and the
// last state need no more (kubernetes: one dead container is kept for each).
void prune_attempts(const std::filesystem::path& pod_dir, const std::string& container,
                    int attempt);

// Uids of the pods that have a directory. Continues removals that were interrupted.
std::vector<std::string> pods_on_disk(const std::filesystem::path& root_dir);

// Gives back the mount points that the pod used, then renames its directory, so that it counts as
// gone whatever happens next; then unmounts what is mounted below and removes it. What cannot be
// removed now is tried again by `pods_on_disk`.
void remove_pod_files(const std::filesystem::path& pod_dir);

}  // namespace troupe::actors
