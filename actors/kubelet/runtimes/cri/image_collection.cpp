#include "actors/kubelet/runtimes/cri/image_collection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace troupe::actors {

namespace {

std::int64_t used_percent(const disk_space& disk) {
  return 100 - disk.available_bytes * 100 / disk.capacity_bytes;
}

}  // namespace

std::int64_t bytes_to_free(const disk_space& disk, const image_limits& limits) {
  if (disk.capacity_bytes <= 0 || used_percent(disk) < limits.high_percent) return 0;
  return std::max<std::int64_t>(
      disk.capacity_bytes / 100 * (100 - limits.low_percent) - disk.available_bytes, 0);
}

std::string full_disk_text(const disk_space& disk, std::int64_t freed_bytes) {
  constexpr double gibibyte = 1 << 30;
  return fmt::format(
      "Insufficient free disk space on the node's image filesystem ({}% of {:.1f} GiB used). "
      "Failed to free sufficient space by deleting unused images (freed {} bytes). "
      "Investigate disk usage, as it could be used by active images, logs, volumes, or other data.",
      used_percent(disk), static_cast<double>(disk.capacity_bytes) / gibibyte, freed_bytes);
}

std::vector<known_image> images_too_old(std::vector<known_image> images, const image_limits& limits,
                                        known_image::time_point now,
                                        known_image::time_point began) {
  if (limits.longest_age.count() == 0 || now - began <= limits.longest_age) return {};
  std::erase_if(images, [&](const auto& each) {
    return each.kept || now - std::max(each.first_seen, each.last_used) <= limits.longest_age;
  });
  return images;
}

std::vector<known_image> images_to_remove(std::vector<known_image> images, std::int64_t bytes,
                                          const image_limits& limits, known_image::time_point now) {
  std::erase_if(images, [&](const auto& each) {
    return each.kept || now - each.first_seen < limits.smallest_age;
  });
  std::sort(images.begin(), images.end(), [](const auto& a, const auto& b) {
    return std::tie(a.last_used, a.first_seen, a.id) < std::tie(b.last_used, b.first_seen, b.id);
  });
  auto end = images.begin();
  for (; end != images.end() && bytes > 0; ++end)
    bytes -= end->size_bytes;
  images.erase(end, images.end());
  return images;
}

}  // namespace troupe::actors
