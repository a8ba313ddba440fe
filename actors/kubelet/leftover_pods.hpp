// Ends the pods that a machine still has when no kubelet will ever run there again: what `troupe
// leave` calls. Blocks: not for actors' threads.
#pragma once

#include <filesystem>

namespace troupe::actors {

// Nobody else may hold the root dir. Ends containers at once, then removes all that stood for pods
// below it: their directories with volumes and logs, and mount points that were made for them.
// Nothing else: profiles in ROOT/seccomp stay. May be repeated; false when something is left.
bool end_leftover_pods(const std::filesystem::path& root_dir);

}  // namespace troupe::actors
