// Selects the images to remove on a full disk (kubernetes: images/image_gc_manager.go). Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "actors/kubelet/runtimes/cri/defaults.hpp"

namespace troupe::actors {

struct image_limits {
  int high_percent = cri_defaults::image_high_percent;
  int low_percent = cri_defaults::image_low_percent;
  std::chrono::milliseconds smallest_age = cri_defaults::image_smallest_age;
  std::chrono::milliseconds longest_age{0};  // since the last use; 0: any
};

// Of the file system that stores the images.
struct disk_space {
  std::int64_t capacity_bytes = 0, available_bytes = 0;
};

struct known_image {
  using time_point = std::chrono::steady_clock::time_point;

  std::string id;
  std::int64_t size_bytes = 0;
  bool kept = false;          // a container uses it, or it is pinned
  time_point first_seen;      // when it was first listed or requested by a container
  time_point last_used = {};  // when a container was last seen using it
};

// Bytes to free so that the disk usage falls to the low limit; 0 while it is below the high
// limit.
std::int64_t bytes_to_free(const disk_space& disk, const image_limits& limits);

// The message of the event FreeDiskSpaceFailed.
std::string full_disk_text(const disk_space& disk, std::int64_t freed_bytes);

// Returns the images that are unused for too long. None is until this node has observed them for
// that time: `began` is its start.
std::vector<known_image> images_too_old(std::vector<known_image> images, const image_limits& limits,
                                        known_image::time_point now, known_image::time_point began);

// Returns the least recently used images until their sizes add up to `bytes`.
std::vector<known_image> images_to_remove(std::vector<known_image> images, std::int64_t bytes,
                                          const image_limits& limits, known_image::time_point now);

}  // namespace troupe::actors
