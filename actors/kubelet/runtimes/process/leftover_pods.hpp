// Ends the remaining pods of a machine that has left the cluster, for `troupe leave`. Blocks: not
// for actors' threads.
#pragma once

#include <filesystem>

namespace troupe::actors {

// No kubelet may use the root directory. Ends containers at once, then removes the files of pods
// below it: their directories with volumes and logs, and mount points that were made for them.
// Nothing else: profiles in ROOT/seccomp stay. May be repeated; false when something is left.
bool end_leftover_pods(const std::filesystem::path& root_dir);

}  // namespace troupe::actors
