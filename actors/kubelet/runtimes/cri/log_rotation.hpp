// Rotates the logs that the runtime writes (kubernetes: logs/container_log_manager.go): the runtime
// opens a new file on request. Blocks on disk: not for actor threads.
#pragma once

#include <string>

#include "actors/kubelet/logs/log_limits.hpp"

namespace troupe::actors {

// Returns whether the runtime must open the log again: it was larger than its limit, and is now
// PATH.1, which readers may still follow and to which the runtime writes until then; older ones are
// compressed to PATH.2.gz and so on. Also if an earlier program renamed it and was killed then.
bool rotate_log(const std::string& path, const log_limits& limits);

// Renames the log back to PATH, because the runtime has not opened a new file.
void undo_rotation(const std::string& path);

}  // namespace troupe::actors
