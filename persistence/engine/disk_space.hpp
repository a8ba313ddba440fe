// The disk space that the store plans with. Pure except for the functions that measure a disk.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace troupe::persistence {

struct disk_space {
  std::uint64_t capacity_bytes = 0;
  std::uint64_t free_bytes = 0;
};

// The space of the directory's file system (the directory need not exist yet); nullopt: unknown.
std::optional<disk_space> space_of(const std::string& directory);
// The size of the files in the directory, counted in allocated blocks.
std::uint64_t usage_of(const std::string& directory);

struct space_plan {
  std::uint64_t history_bytes;  // the limit of the change log
  std::uint64_t reserve_bytes;  // freed for the store when the disk is full
  std::uint64_t low_bytes;      // with less free than this, space is low
  std::uint64_t enough_bytes;   // with this much free beside the reserve, space is no longer low
  std::uint64_t growth_bytes;   // the bytes that all updates together may add while space is low
};

space_plan plan_space(std::uint64_t capacity_bytes, std::uint64_t history_wanted_bytes);

}  // namespace troupe::persistence
