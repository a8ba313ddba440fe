#include "actors/kubelet/runtimes/cri/image_collection.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace troupe::actors {

std::int64_t bytes_to_free(const disk_space& disk, const image_limits& limits) {
  if (disk.capacity_bytes <= 0) return 0;
  const auto used = 100 - disk.available_bytes * 100 / disk.capacity_bytes;
  if (used < limits.high_percent) return 0;
  return std::max<std::int64_t>(
      disk.capacity_bytes / 100 * (100 - limits.low_percent) - disk.available_bytes, 0);
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
