// Ends the remaining pods of a machine that has left the cluster, for `troupe leave`. Blocks: do
// not call it on an actor's thread.
#pragma once

#include <filesystem>

namespace troupe::actors {

// The root directory must not be in use by a kubelet. Kills all containers, then removes the files
// of their pods: directories with volumes and logs, and the mount points created for them. Other
// files, like profiles in ROOT/seccomp, stay. Idempotent; returns false if anything is left.
bool end_leftover_pods(const std::filesystem::path& root_dir);

}  // namespace troupe::actors
