#include "actors/kubelet/volumes/volume_group.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace troupe::actors {

namespace {

namespace fs = std::filesystem;
using void_result = tl::expected<void, std::string>;

// kubernetes: volume_linux.go, rwMask, roMask and execMask.
constexpr mode_t group_reads_writes = 0660, all_read = 0440, directories_too = 0110;

void_result give(const fs::path& path, gid_t group, bool sealed) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0 ||
      ::lchown(path.c_str(), static_cast<uid_t>(-1), group) != 0)
    return tl::make_unexpected(
        fmt::format("cannot give {} to group {}: {}", path.string(), group, std::strerror(errno)));
  if (S_ISLNK(info.st_mode)) return {};
  mode_t mode = info.st_mode | (sealed ? all_read : group_reads_writes);
  if (S_ISDIR(info.st_mode)) mode |= S_ISGID | directories_too;
  if (::chmod(path.c_str(), mode & 07777) != 0)
    return tl::make_unexpected(
        fmt::format("cannot change the mode of {}: {}", path.string(), std::strerror(errno)));
  return {};
}

}  // namespace

void_result set_volume_group(const fs::path& volume, gid_t group, bool sealed) {
  struct stat info {};
  const bool done =
      ::stat(volume.c_str(), &info) == 0 && info.st_gid == group && (info.st_mode & S_ISGID) != 0;
  if (!done || sealed)
    if (auto done = give(volume, group, sealed); !done) return done;
  if (!sealed) return {};
  std::error_code problem;
  for (auto at = fs::recursive_directory_iterator{volume, problem};
       !problem && at != fs::recursive_directory_iterator{}; at.increment(problem))
    if (auto done = give(at->path(), group, sealed); !done) return done;
  if (problem)
    return tl::make_unexpected(
        fmt::format("cannot look through {}: {}", volume.string(), problem.message()));
  return {};
}

}  // namespace troupe::actors
