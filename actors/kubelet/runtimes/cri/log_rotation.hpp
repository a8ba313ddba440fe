// Rotates the logs that the runtime writes (kubernetes: logs/container_log_manager.go): the runtime
// opens a new file when it is told. Blocks on disk: not for actors' threads.
#pragma once

#include <cstdint>
#include <string>

#include "actors/kubelet/defaults.hpp"

namespace troupe::actors {

// Whether the log has more than `limit_bytes`; then it is PATH.1, which readers may still follow,
// and older ones are compressed as PATH.2.gz and so on, `log_files` in all. The runtime goes on in
// PATH.1 until it opens PATH again.
bool rotate_log(const std::string& path,
                std::uintmax_t limit_bytes = kubelet_defaults::log_file_bytes);

// The runtime has not opened a new file: the log is PATH again.
void undo_rotation(const std::string& path);

}  // namespace troupe::actors
