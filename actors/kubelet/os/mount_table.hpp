// The mount table of this process. Blocks on disk: not for actor threads.
#pragma once

#include <string>
#include <vector>

namespace troupe::actors {

struct mount_entry {
  int id = 0;          // as in statx
  std::string device;  // MAJOR:MINOR of the file system
  std::string root;    // the mounted directory of that file system
  std::string point;   // mount point
  std::string type;    // "proc"
};

// In the order of /proc/self/mountinfo, which is the order of mounting.
std::vector<mount_entry> read_mounts();

// Whether a path is below another one; both must be absolute and normalized.
bool is_beneath(const std::string& path, const std::string& other);

// All paths by which the directory is visible on this machine, itself first: through mounts of its
// file system or of a part of it. A mount of a directory inside it counts as the whole.
std::vector<std::string> visible_paths(const std::string& directory,
                                       const std::vector<mount_entry>& mounts);

}  // namespace troupe::actors
