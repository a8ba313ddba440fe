// Paths of the process runtime's containers and logs below the directory of their pod
// (volumes/pod_files.hpp), and their removal. A container's id is
// process://UID/NAME/ATTEMPT.
//
//   pods/UID/containers/NAME/ATTEMPT/    container_dir.hpp
//   pods/UID/logs/NAME/ATTEMPT.log       and its rotations
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace troupe::actors {

struct process_container_id {
  std::string pod_uid, name;
  int attempt = 0;

  std::string text() const;
};
// Returns nothing if `text` is not a valid id: its parts become file names, so no path may escape.
std::optional<process_container_id> parse_container_id(std::string_view text);

std::filesystem::path attempt_path(const std::filesystem::path& pod_dir,
                                   const std::string& container, int attempt);
// The log of one attempt.
std::filesystem::path log_path(const std::filesystem::path& root_dir, const std::string& pod_uid,
                               const std::string& container, int attempt);

// The functions below block on disk: do not call them on an actor's thread.

// Removes directories and logs of attempts older than the previous one: `kubectl logs --previous`
// and the last state need no more (kubernetes: one dead container is kept for each).
void prune_attempts(const std::filesystem::path& pod_dir, const std::string& container,
                    int attempt);

// Removes all containers and logs of a pod and the mount points it used. A rename makes all
// containers disappear at once, even if the removal is interrupted.
void remove_containers(const std::filesystem::path& pod_dir);

}  // namespace troupe::actors
