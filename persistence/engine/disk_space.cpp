#include "persistence/engine/disk_space.hpp"

#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <filesystem>

#include "persistence/defaults.hpp"

namespace troupe::persistence {

std::optional<disk_space> space_of(const std::string& directory) {
  std::error_code bad;
  auto place = std::filesystem::absolute(directory, bad);
  while (place.has_relative_path() && !std::filesystem::exists(place, bad))
    place = place.parent_path();
  struct statvfs found {};
  if (::statvfs(place.c_str(), &found) != 0 || found.f_blocks == 0) return std::nullopt;
  const std::uint64_t block_bytes = found.f_frsize;
  return disk_space{found.f_blocks * block_bytes, found.f_bavail * block_bytes};
}

std::uint64_t usage_of(const std::string& directory) {
  constexpr std::uint64_t stat_block_bytes = 512;
  std::uint64_t sum = 0;
  std::error_code bad;
  for (const auto& each : std::filesystem::directory_iterator{directory, bad}) {
    struct stat found {};
    if (::stat(each.path().c_str(), &found) == 0)
      sum += static_cast<std::uint64_t>(found.st_blocks) * stat_block_bytes;
  }
  return sum;
}

space_plan plan_space(std::uint64_t capacity_bytes, std::uint64_t history_wanted_bytes) {
  const auto part = capacity_bytes / defaults::disk_part;
  const auto reserve = std::min(part, defaults::reserve_bytes);
  return {std::min(part, history_wanted_bytes), reserve, reserve / 100 * defaults::low_percent,
          reserve / 100 * defaults::enough_percent, reserve / defaults::growth_part};
}

}  // namespace troupe::persistence
