// How much of its disk the store plans with. Pure, but for the functions that look at the disk.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace troupe::persistence {

struct disk_space {
  std::uint64_t capacity_bytes = 0;
  std::uint64_t free_bytes = 0;
};

// Of the file system that a directory is on, or will be; nothing when that is unknown.
std::optional<disk_space> space_of(const std::string& directory);
// The size of the files in it, by their blocks.
std::uint64_t usage_of(const std::string& directory);

struct space_plan {
  std::uint64_t history_bytes;  // the limit of the change log
  std::uint64_t reserve_bytes;  // held back, to be given to the store when the disk is full
  std::uint64_t low_bytes;      // with less than this free the store is short of space
  std::uint64_t enough_bytes;   // with as much free beside the reserve it no longer is
  std::uint64_t growth_bytes;   // what all updates together may add meanwhile
};

space_plan plan_space(std::uint64_t capacity_bytes, std::uint64_t history_wanted_bytes);

}  // namespace troupe::persistence
