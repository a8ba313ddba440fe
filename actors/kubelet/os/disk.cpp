#include "actors/kubelet/os/disk.hpp"

#include <sys/stat.h>
#include <sys/statvfs.h>

namespace troupe::actors {

std::optional<disk_content> read_disk(const std::filesystem::path& path) {
  struct statvfs found {};
  if (::statvfs(path.c_str(), &found) != 0) return std::nullopt;
  const auto block = static_cast<std::int64_t>(found.f_frsize);
  return disk_content{static_cast<std::int64_t>(found.f_bavail) * block,
                      static_cast<std::int64_t>(found.f_blocks) * block,
                      static_cast<std::int64_t>(found.f_favail),
                      static_cast<std::int64_t>(found.f_files)};
}

std::optional<bool> on_other_disk(const std::filesystem::path& path,
                                  const std::filesystem::path& than) {
  struct stat one {
  }, other{};
  if (::stat(path.c_str(), &one) != 0 || ::stat(than.c_str(), &other) != 0) return std::nullopt;
  return one.st_dev != other.st_dev;
}

}  // namespace troupe::actors
