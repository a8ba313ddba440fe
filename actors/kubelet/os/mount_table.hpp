// The mount table, as this process sees it. Blocks on disk: not for actors' threads.
#pragma once

#include <string>
#include <vector>

namespace troupe::actors {

struct mount_entry {
  int id = 0;          // as statx tells it
  std::string device;  // MAJOR:MINOR of the file system
  std::string root;    // the part of it that is mounted
  std::string point;   // where
  std::string type;    // "proc"
};

// In the order of /proc/self/mountinfo, which is that of mounting.
std::vector<mount_entry> read_mounts();

// Whether a path is below another one; both absolute and normal.
bool is_beneath(const std::string& path, const std::string& other);

// Where else on this machine the directory can be seen: in mounts of its file system, or of a part
// of that. Itself is the first. A mount of something within the directory counts as a whole.
std::vector<std::string> visible_paths(const std::string& directory,
                                       const std::vector<mount_entry>& mounts);

}  // namespace troupe::actors
